package answer

// A NamedValue is a setting: a name and its value.
type NamedValue struct {
	Name  string `json:"name" doc:"its name"`
	Value Text   `json:"value" doc:"its value as text"`
}
