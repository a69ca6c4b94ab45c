// Package jsonenc encodes values as JSON by plans: a plan is compiled once for each type from its json tags and is then
// walked for every value.
//
// The JSON is what encoding/json writes without escaping for HTML, and three things more: lists are streamed from
// iterators, a part that is missing is null, and strings hold nothing that a terminal acts on or that stays unseen.
// The plans also describe the types, for documents and schemas.
package jsonenc
