package dac

// File returns the name of the module as SOS prints it: the path of its file, the file name of an assembly in
// the bundle of a single-file app, the name in the metadata of a module loaded from bytes, or "" for a dynamic
// module.
func (m *Module) File() (string, error) {
	path, err := m.Path()
	if err != nil || path != "" {
		return path, err
	}
	at, err := m.Image()
	if err != nil || at.Start == 0 {
		return "", err
	}
	if name, err := m.fileName(); err == nil && name != "" {
		return name, nil
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	row, err := md.Module(1)
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

// FileOr returns File, or words for an empty name.
func (m *Module) FileOr(words string) (string, error) {
	name, err := m.File()
	if err == nil && name == "" {
		name = words
	}
	return name, err
}

// Title returns File, or "Dynamic Module" or "Unknown Module" for an empty name.
func (m *Module) Title() (string, error) {
	if dynamic, err := m.IsDynamic(); err == nil && dynamic {
		return m.FileOr("Dynamic Module")
	}
	return m.FileOr("Unknown Module")
}
