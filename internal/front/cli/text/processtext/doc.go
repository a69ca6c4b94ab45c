// Package processtext writes answers about the process and its memory as text: in the form of SOS, to
// the character, or with what sosgo adds. It gets answers and can read nothing.
package processtext
