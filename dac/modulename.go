package dac

// File is what the module is called after, as SOS prints it: the path of its
// file, of an assembly in the bundle of a single-file app the name of the file, of
// one that was loaded from bytes the name in its metadata, of a dynamic module
// nothing.
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

// FileOr is File, or words in the place of no name.
func (m *Module) FileOr(words string) (string, error) {
	name, err := m.File()
	if err == nil && name == "" {
		name = words
	}
	return name, err
}

// Title is File, or words for a module without a name, which say whether
// Reflection.Emit made it.
func (m *Module) Title() (string, error) {
	if dynamic, err := m.IsDynamic(); err == nil && dynamic {
		return m.FileOr("Dynamic Module")
	}
	return m.FileOr("Unknown Module")
}
