package answer

import "strings"

// A Worker is a thread that has something in hand: a request, a connection.
type Worker struct {
	Thread
	Does   string `json:"does,omitempty" doc:"what it does or waits for, as its stack says"`
	Method Text   `json:"method,omitzero" doc:"the topmost method of the program: none of the class libraries, servers and drivers"`
}

// An AsyncWork is suspended async code that holds an object. Only its innermost method waits for something outside.
type AsyncWork struct {
	Reason Text         `json:"reason,omitzero" doc:"what all of it waits for, in words"`
	Frames []AsyncFrame `json:"frames" doc:"the frames, the innermost first, up to the outermost that has it; as those of dumpasync"`
}

// LibraryMethod reports whether a method, by its name with its namespace and type, is one of the class libraries, servers and
// drivers that programs are built on: what a list of methods can do without where the program's own are wanted.
func LibraryMethod(name string) bool {
	for _, s := range [...]string{"System.", "Microsoft.AspNetCore.", "Microsoft.Extensions.", "Microsoft.Data.", "Microsoft.EntityFrameworkCore.", "Microsoft.Win32.", "Npgsql."} {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}
