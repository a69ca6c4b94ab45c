// Package objecttext writes answers about objects and the heap as text: in the form of SOS, to
// the character, or with what sosgo adds. It gets answers and can read nothing.
package objecttext
