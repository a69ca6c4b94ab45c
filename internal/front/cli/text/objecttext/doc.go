// Package objecttext writes answers about objects and the heap as text: in SOS's form, to the character, or with
// sosgo's additions. It receives answers and cannot read a dump.
package objecttext
