// Package threadtext writes answers about threads and stacks as text: in the form of SOS, to
// the character, or with what sosgo adds. It gets answers and can read nothing.
package threadtext
