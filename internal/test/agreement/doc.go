// Package agreement compares the output of sosgo with two other programs on the same dump: facts
// from the runtime's data-access library (DAC), and text that SOS printed. Start reading at
// CompareFacts and CompareSOS.
//
// The corpus has these answers in the folders oracle and sos of a case. A canned dump has the
// answers that its slice still gives in one file, agreement.tar.zst.
package agreement
