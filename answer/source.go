package answer

// A SourceFile is a source file that a PDB names.
type SourceFile struct {
	Gaps
	File   string  `json:"file" doc:"its path, as the compiler recorded it"`
	Module string  `json:"module" doc:"the module whose PDB names it"`
	Link   string  `json:"link,omitempty" doc:"where Source Link has it"`
	Text   *string `json:"text,omitempty" doc:"its text; absent if the PDB does not embed it"`
}
