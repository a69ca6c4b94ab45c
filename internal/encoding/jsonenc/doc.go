// Package jsonenc encodes values as JSON. It compiles a plan for each type from its json tags,
// once, and walks the plan for every value. Start reading at Encoder and Plan.
//
// The output equals encoding/json without HTML escaping, with three additions: lists are
// streamed from iterators; a missing part is null; and strings contain no characters that a
// terminal acts on or that are invisible. Plans also describe the types, for documents and schemas.
package jsonenc
