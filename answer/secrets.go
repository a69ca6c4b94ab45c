package answer

// Secrets counts the known secret values of a process. Masking replaces them wherever they appear.
type Secrets struct {
	Gaps
	Values int          `json:"values" doc:"different values"`
	Kinds  []SecretKind `json:"kinds" doc:"the values by what shows that they are secrets, the most first"`
}

// A SecretKind counts the secrets of a kind.
type SecretKind struct {
	Kind   string `json:"kind" doc:"what shows that the values are secrets"`
	Values int    `json:"values" doc:"different values"`
}
