package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// Images lists the images that a process had mapped.
type Images struct {
	Gaps
	List   []MappedImage           `json:"-"` // the images as the dump lists them; no file is opened for them
	Images iter.Seq2[Image, error] `json:"modules" doc:"the images, by address"`
	Total  uint64                  `json:"totalImageSize" doc:"bytes of all images, also of those that were not asked for"`
	// Headless is the size of the images without headers. SOS does not list them.
	Headless uint64 `json:"-"`
}

// A MappedImage is an image as the dump lists it.
type MappedImage struct {
	Index int `json:"index" doc:"number of the image, by address"`
	// SOSIndex is the image's number in SOS's list.
	SOSIndex int         `json:"-"`
	Address  target.Addr `json:"address" doc:"where it starts"`
	Size     uint64      `json:"size" doc:"bytes in memory"`
	Path     string      `json:"path" doc:"of its file, as the dump records it"`
	// Headless reports that the image's headers are unreadable. SOS does not list such images.
	Headless bool `json:"headless,omitempty" doc:"its headers are neither in the dump nor in an available file: the size is that of the mapped parts"`
}

// An Image is a mapped image as its headers describe it. If they are unreadable, only the dump's list describes it.
type Image struct {
	MappedImage
	PE        Maybe[bool] `json:"pe,omitzero" doc:"a PE image, not an ELF one; absent if the image can't be read"`
	Managed   Maybe[bool] `json:"managed,omitzero" doc:"a PE image with a CLR header; absent if that can't be read"`
	Flat      *bool       `json:"flat,omitempty" doc:"laid out as in its file; absent if that is not known, and of images that are no PE"`
	FileSize  uint32      `json:"sizeOfImage,omitempty" doc:"SizeOfImage of a PE image, part of its identity"`
	TimeStamp *Hex        `json:"timeDateStamp,omitempty" doc:"of a PE image, part of its identity"`
	Version   Text        `json:"version,omitzero" doc:"file version"`
	Text      string      `json:"versionText,omitempty" doc:"the version that an image of the runtime gives itself"`
	PDB       *PDB        `json:"pdb,omitempty" doc:"the symbol file that it names"`
	BuildID   string      `json:"buildId,omitempty" doc:"of an ELF image; of a Mach-O image the UUID"`
	// BuildIDCut reports that a crash reporter kept only the start of BuildID.
	BuildIDCut bool           `json:"buildIdCut,omitempty" doc:"buildId is only the beginning of it"`
	Exports    []Export       `json:"exports,omitempty" doc:"symbols for debuggers that a runtime exports"`
	Sections   []ImageSection `json:"sections,omitempty" doc:"sections or segments"`
}

// A PDB is the identity of the symbol file of a PE image.
type PDB struct {
	GUID string `json:"guid" doc:"identity of the symbol file"`
	Age  uint32 `json:"age" doc:"its revision"`
	Path string `json:"path" doc:"where the compiler wrote it"`
}

// An ImageSection is a section of a PE image or a segment of an ELF image.
type ImageSection struct {
	Name    string `json:"name,omitempty" doc:"of a PE section"`
	Address Hex    `json:"address" doc:"distance from the image's base"`
	Size    uint64 `json:"size" doc:"bytes in memory"`
	Offset  Hex    `json:"offset" doc:"in the file"`
	Access  string `json:"access" doc:"r, w and x"`
}

// A SavedImage is an image file rebuilt from memory.
type SavedImage struct {
	Gaps
	Path    string `json:"path" doc:"of the image, as the dump records it"`
	File    string `json:"file" doc:"that was written"`
	Size    uint64 `json:"size" doc:"bytes of the file"`
	Missing uint64 `json:"missing" doc:"bytes that neither the dump nor a module file has; they are zeros"`
}

// A LoadedModule is a managed module that a runtime has loaded.
type LoadedModule struct {
	Gaps
	Module       target.Addr `json:"module" doc:"address of the Module"`
	Assembly     target.Addr `json:"assembly" doc:"address of the Assembly"`
	Name         Text        `json:"name,omitzero" doc:"path of the file; of an assembly loaded from bytes its own name"`
	ImageBase    Pointer     `json:"imageBase,omitzero" doc:"where the image lies; absent for a dynamic module"`
	Size         uint64      `json:"size,omitempty" doc:"bytes of the image"`
	PE           bool        `json:"pe" doc:"it has an image"`
	Layout       string      `json:"layout,omitempty" doc:"\"Flat\" as in the file, or \"Mapped\" by section"`
	Dynamic      bool        `json:"dynamic" doc:"made by Reflection.Emit"`
	Metadata     target.Addr `json:"metadata,omitempty" doc:"where its metadata lies"`
	MetadataSize uint64      `json:"metadataSize,omitempty" doc:"bytes of metadata"`
	MetadataErr  error       `json:"-"` // why the metadata is unreadable
	PDB          *PDB        `json:"pdb,omitempty" doc:"the symbol file that it names"`
	PDBErr       error       `json:"-"` // why it is unknown whether the module names a PDB
	Version      Text        `json:"version,omitzero" doc:"file version"`
}
