// Package agreement compares the output of sosgo with the answers of two other programs about the same dump: facts that the
// runtime's own data-access library (DAC) stated, and text that SOS printed.
//
// The corpus keeps these answers in folders of a case, oracle and sos. A canned dump has those that its slice can still answer in
// one file, agreement.tar.zst.
package agreement
