// Package text has what the renderers of several groups share. A renderer gets
// an answer and a page, and can read nothing: see the test of import
// directions in the module's root.
package text
