// Package threadtext writes answers about threads and stacks as text: in SOS's form, to the character, or with
// sosgo's additions. It receives answers and cannot read a dump.
package threadtext
