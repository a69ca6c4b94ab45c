// Package apptext writes answers about what the application of a process was doing as text: web requests, pools of connections.
// SOS has some of these questions, and its form is written to the character where it does. It gets answers and can read nothing.
package apptext
