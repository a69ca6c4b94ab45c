// Package triage answers "what is wrong with this process" on one page. It calls the query packages, and ranks their
// conclusions as findings. It does not read the dump itself, and a finding is never stronger than its conclusion.
//
// A subject that was checked completely without a finding is quiet. A subject that was not checked, or only in part, is
// listed with the reason: the unread part may be what is wrong.
//
// Start with Triage (triage.go) and ranks (ranks.go).
package triage
