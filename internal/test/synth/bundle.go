package synth

// A BundleFile is a file of a Bundle.
type BundleFile struct {
	Path string
	Data []byte // the bytes in the bundle
	Size uint64 // unpacked size, 0 for a file that is not compressed
	Kind byte
}

// A Bundle is the bundle of a single-file app.
type Bundle struct {
	Major uint32 // 1, 2 or 6
	Flags uint64
	Align int // of the files; 1 if zero
	Files []BundleFile
}

// BundlePlace returns the marker for a bundle in a program without one: a zero offset, followed by
// the signature.
func BundlePlace() []byte {
	return append(make([]byte, 8), "\x8b\x12\x02\xb9\x6a\x61\x20\x38\x72\x7b\x93\x02\x14\xd7\xa0\x32"+
		"\x13\xf5\xb9\xe6\xef\xae\x33\x18\xee\x3b\x2d\xce\x24\xb3\x6a\xae"...)
}

// Append returns the program with the bundle after it, the offset of its manifest, and those of its
// files. place is the position of the BundlePlace in the program, or -1.
func (b *Bundle) Append(program []byte, place int) (app []byte, manifest uint64, offsets []uint64) {
	app = append([]byte{}, program...)
	for _, f := range b.Files {
		for b.Align > 1 && len(app)%b.Align != 0 {
			app = append(app, 0)
		}
		offsets = append(offsets, uint64(len(app)))
		app = append(app, f.Data...)
	}
	manifest = uint64(len(app))
	app = append(app, Fields(b.Major, uint32(0), uint32(len(b.Files)))...)
	app = append(append(app, 4), "ABCD"...)
	if b.Major >= 2 {
		app = append(app, Fields([4]uint64{}, b.Flags)...)
	}
	for i, f := range b.Files {
		size, packed := uint64(len(f.Data)), uint64(0)
		if f.Size != 0 {
			size, packed = f.Size, size
		}
		app = append(app, Fields(offsets[i], size)...)
		if b.Major >= 6 {
			app = append(app, Fields(packed)...)
		}
		app = append(append(app, f.Kind, byte(len(f.Path))), f.Path...)
	}
	if place >= 0 {
		copy(app[place:], Fields(manifest))
	}
	return app, manifest, offsets
}
