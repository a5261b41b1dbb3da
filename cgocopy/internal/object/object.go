// Package object reads the types that an object file describes in its debug information: DWARF in ELF,
// Mach-O or PE.
//
// [Open] finds the DWARF sections. A reader turns their entries into types, a sizeResolver computes sizes
// that depend on other types, and buildIndex makes types findable by name. A unit in DWARF describes one
// compiled source file. Files may be damaged or hostile, so depths, sizes and counts have limits.
package object

import (
	"debug/dwarf"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// ErrNoDWARF is the error for a file without debug information.
var ErrNoDWARF = errors.New("no DWARF in it; compile it with -g")

var errSplit = errors.New("its types are in another file, a .dwo: compile it with -gno-split-dwarf")

var errFormat = errors.New("no object file: neither ELF nor Mach-O nor PE, nor an archive of them")

// File has the types of one object file, or of all in an archive.
type File struct {
	Arch   string // processor, as in GOARCH; "" if unknown
	OS     string // system, as in GOOS, if the file format belongs to one; else ""
	Little bool
	Types  []*ctype.Type

	byName  map[string]*ctype.Type    // see [File.Type]
	clashes map[string][2]*ctype.Type // see [File.Clash]
	anchors map[string]*ctype.Type    // targets of anchor variables, by variable
}

// Clash returns two types with the same name but different layouts, from different units. It returns false
// if there are none.
func (f *File) Clash(name string) (a, b *ctype.Type, ok bool) {
	two, ok := f.clashes[name]
	return two[0], two[1], ok
}

// Type finds a type by its name in C: a typedef, struct point, union u, enum e, or a bare tag if no typedef
// has that name. It prefers complete types. It returns nil if there is no such type.
func (f *File) Type(name string) *ctype.Type { return f.byName[name] }

// Anchor returns the type that a pointer variable of this name points to, or nil. Package cc declares
// anchors for the types that it wants.
func (f *File) Anchor(name string) *ctype.Type { return f.anchors[name] }

// Open reads the types of an object file, or of all object files in an archive. printName converts the
// paths of source files for messages; nil leaves them unchanged.
func Open(path string, printName func(file string) string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := readFrom(file, printName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func readFrom(r io.ReaderAt, printName func(string) string) (*File, error) {
	archive, err := isArchive(r)
	if err != nil {
		return nil, err
	}
	if !archive {
		f, err := readObject(r, printName)
		if err != nil {
			return nil, err
		}
		f.buildIndex()
		return f, nil
	}
	list, err := readMembers(r)
	if err != nil {
		return nil, err
	}
	var all *File
	noTypes := ErrNoDWARF // error if no member of the archive describes its types
	for _, m := range list {
		f, err := readObject(m.data, printName)
		switch {
		case errors.Is(err, errSplit):
			noTypes = errSplit
		case errors.Is(err, ErrNoDWARF), errors.Is(err, errFormat):
			continue // e.g. the metadata that Rust adds
		case err != nil:
			return nil, fmt.Errorf("%s in it: %w", m.name, err)
		case all == nil:
			all = f
		case f.Arch != all.Arch || f.Little != all.Little:
			return nil, fmt.Errorf("%s in it is for %s, others for %s", m.name, f.Arch, all.Arch)
		default:
			all.Types = append(all.Types, f.Types...)
		}
	}
	if all == nil {
		return nil, noTypes
	}
	all.buildIndex()
	return all, nil
}

// readObject reads an object file. The types have no index yet.
func readObject(r io.ReaderAt, printName func(string) string) (*File, error) {
	data, f, err := openContainer(r)
	if err != nil {
		return nil, err
	}
	types, err := readTypes(data, printName)
	if err != nil {
		return nil, err
	}
	f.Types, f.anchors = types.all, types.anchors
	return f, nil
}

// openContainer finds the DWARF in an object file of any format. The file that it returns has no types yet.
func openContainer(r io.ReaderAt) (*dwarf.Data, *File, error) {
	var magic [4]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil {
		return nil, nil, errFormat
	}
	switch {
	case string(magic[:]) == elf.ELFMAG:
		return fromELF(r)
	case isMachO(magic):
		return fromMachO(r)
	case isPE(magic):
		return fromPE(r)
	}
	return nil, nil, errFormat
}

// maxUnpacked is the largest size in bytes of all debug sections together, decompressed.
const maxUnpacked = 1 << 30

// unpackedSize is the sum of the decompressed sizes of sections in bytes, by their headers. It is checked
// before the standard library decompresses them.
type unpackedSize uint64

// addSection adds a section of size bytes. content reads a section that may be compressed in the older way:
// "ZLIB" and the decompressed size come first. If content is nil, size is the decompressed size.
func (u *unpackedSize) addSection(size uint64, content io.ReaderAt) {
	var head [12]byte
	if content != nil {
		if n, _ := content.ReadAt(head[:], 0); n == len(head) && string(head[:4]) == "ZLIB" {
			size = max(size, binary.BigEndian.Uint64(head[4:]))
		}
	}
	*u += unpackedSize(min(size, maxUnpacked+1)) // so that the sum cannot overflow
}

func (u unpackedSize) checkSize() error {
	if u > maxUnpacked {
		return fmt.Errorf("sections for debuggers of more than %d bytes when they are unpacked", maxUnpacked)
	}
	return nil
}

func fromELF(r io.ReaderAt) (*dwarf.Data, *File, error) {
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, nil, err
	}
	if e.Section(".debug_info") == nil && e.Section(".zdebug_info") == nil {
		return nil, nil, ErrNoDWARF
	}
	var sum unpackedSize
	for _, s := range e.Sections {
		switch {
		case s.Flags&elf.SHF_COMPRESSED != 0:
			sum.addSection(s.Size, nil)
		case strings.HasPrefix(s.Name, ".zdebug_"):
			sum.addSection(s.Size, s)
		case strings.HasPrefix(s.Name, ".debug_"):
			sum.addSection(s.Size, nil)
		}
	}
	if err := sum.checkSize(); err != nil {
		return nil, nil, err
	}
	data, err := e.DWARF()
	arch := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_386: "386", elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64"}[e.Machine]
	return data, &File{Arch: arch, Little: e.Data == elf.ELFDATA2LSB}, err
}

func isMachO(magic [4]byte) bool {
	switch magic {
	case [4]byte{0xcf, 0xfa, 0xed, 0xfe}, [4]byte{0xce, 0xfa, 0xed, 0xfe}, [4]byte{0xfe, 0xed, 0xfa, 0xcf}, [4]byte{0xfe, 0xed, 0xfa, 0xce}:
		return true
	}
	return false
}

func fromMachO(r io.ReaderAt) (*dwarf.Data, *File, error) {
	m, err := macho.NewFile(r)
	if err != nil {
		return nil, nil, err
	}
	if m.Section("__debug_info") == nil {
		return nil, nil, ErrNoDWARF
	}
	var sum unpackedSize
	for _, s := range m.Sections {
		if strings.HasPrefix(s.Name, "__debug_") || strings.HasPrefix(s.Name, "__zdebug_") {
			sum.addSection(s.Size, s)
		}
	}
	if err := sum.checkSize(); err != nil {
		return nil, nil, err
	}
	data, err := m.DWARF()
	arch := map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[m.Cpu]
	return data, &File{Arch: arch, OS: "darwin", Little: true}, err
}

// isPE reports whether a file is PE. A program begins with "MZ", an object file with the number of its
// processor.
func isPE(magic [4]byte) bool {
	machine := uint16(magic[0]) | uint16(magic[1])<<8
	return string(magic[:2]) == "MZ" || machine == pe.IMAGE_FILE_MACHINE_AMD64 || machine == pe.IMAGE_FILE_MACHINE_I386 || machine == pe.IMAGE_FILE_MACHINE_ARM64
}

func fromPE(r io.ReaderAt) (*dwarf.Data, *File, error) {
	p, err := pe.NewFile(r)
	if err != nil {
		return nil, nil, err
	}
	if p.Section(".debug_info") == nil {
		return nil, nil, ErrNoDWARF
	}
	var sum unpackedSize
	for _, s := range p.Sections {
		if strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_") {
			sum.addSection(uint64(s.Size), s)
		}
	}
	if err := sum.checkSize(); err != nil {
		return nil, nil, err
	}
	data, err := p.DWARF()
	arch := map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[p.Machine]
	return data, &File{Arch: arch, OS: "windows", Little: true}, err
}
