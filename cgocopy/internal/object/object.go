// Package object reads the types that an object file describes, as the
// compiler wrote them down for debuggers: ELF, Mach-O and PE with DWARF.
package object

import (
	"debug/dwarf"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// ErrNoDWARF says that a file does not describe its types.
var ErrNoDWARF = errors.New("no DWARF in it; compile it with -g")

// File is one object file.
type File struct {
	Arch   string // as GOARCH names it; empty: not known
	OS     string // as GOOS names it, where the format says; else empty
	Little bool   // byte order
	Types  []*ctype.Type

	byName  map[string]*ctype.Type
	anchors map[string]*ctype.Type // what variables point to
}

// Type finds a type by the name C gives it: a typedef's, or struct point, union
// u, enum e; a bare tag finds the struct, union or enum where no typedef has
// that name. Complete ones are found before incomplete ones. Nil: there is none.
func (f *File) Type(name string) *ctype.Type { return f.byName[name] }

// Anchor is the type that the pointer variable name points to. Nil: there is no
// such variable.
func (f *File) Anchor(name string) *ctype.Type { return f.anchors[name] }

// Open reads the types of the object file at path.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, f, err := container(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Types, f.anchors = r.all, r.anchors
	f.index()
	return f, nil
}

// index fills byName.
func (f *File) index() {
	f.byName = map[string]*ctype.Type{}
	put := func(name string, t *ctype.Type) {
		if old := f.byName[name]; name != "" && (old == nil || hollow(old) && !hollow(t)) {
			f.byName[name] = t
		}
	}
	for _, t := range f.Types {
		if t.Kind == ctype.Typedef {
			put(t.Name, t)
		}
	}
	for _, t := range f.Types {
		if t.Kind == ctype.Typedef {
			continue
		}
		put(t.Name, t)
	}
	for _, t := range f.Types { // bare tags, where nothing else has the name
		if tag := t.Tag(); tag != "" && f.byName[tag] == nil || hollow(f.byName[tag]) {
			put(tag, t)
		}
	}
}

// hollow reports whether nothing is known of what is behind a name.
func hollow(t *ctype.Type) bool {
	t = t.Strip()
	return t != nil && t.Incomplete
}

// container finds the DWARF in any of the formats.
func container(r io.ReaderAt) (*dwarf.Data, *File, error) {
	var magic [4]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil {
		return nil, nil, errors.New("no object file: it is too short")
	}
	switch {
	case string(magic[:]) == elf.ELFMAG:
		return fromELF(r)
	case isMachO(magic):
		return fromMachO(r)
	case isPE(magic):
		return fromPE(r)
	}
	return nil, nil, errors.New("no object file: neither ELF nor Mach-O nor PE (archives: take an object out of them first)")
}

func fromELF(r io.ReaderAt) (*dwarf.Data, *File, error) {
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, nil, err
	}
	if e.Section(".debug_info") == nil && e.Section(".zdebug_info") == nil {
		return nil, nil, ErrNoDWARF
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
	data, err := m.DWARF()
	arch := map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[m.Cpu]
	return data, &File{Arch: arch, OS: "darwin", Little: true}, err
}

// isPE: an image begins with MZ, an object with its machine.
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
	data, err := p.DWARF()
	arch := map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[p.Machine]
	return data, &File{Arch: arch, OS: "windows", Little: true}, err
}
