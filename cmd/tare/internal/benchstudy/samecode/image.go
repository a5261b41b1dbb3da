package samecode

import (
	"debug/elf"
	"debug/gosym"
	"debug/macho"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
)

// This file reads the parts of a binary that are compared: its code, its table of functions, and
// its data.

// image contains the parts of a binary that are compared.
type image struct {
	text     []byte // machine code
	textAddr uint64
	lines    []byte                                                   // table of functions and lines (pclntab)
	data     [][]byte                                                 // sections that may contain addresses of functions
	mask     func(entry uint64, code []byte, locate locator) function // depends on the binary's processor
}

// locator returns the name of the function around an address, and the distance of the address from
// its start. It returns false if the address is not in code.
type locator func(addr uint64) (name string, offset uint64, ok bool)

func (img *image) newLocator(functions []gosym.Func) locator {
	names := make(map[uint64]string, len(functions)) // by entry
	for _, f := range functions {
		names[f.Entry] = f.Name
	}
	entries := slices.Sorted(maps.Keys(names))
	return func(addr uint64) (name string, offset uint64, ok bool) {
		if addr-img.textAddr >= uint64(len(img.text)) { // the difference is unsigned: huge for an address before the text
			return "", 0, false
		}
		i, exact := slices.BinarySearch(entries, addr)
		if !exact {
			i-- // the last entry before addr
		}
		if i < 0 {
			return "", 0, false
		}
		return names[entries[i]], addr - entries[i], true
	}
}

// readImage reads an ELF or Mach-O binary. The error wraps ErrUnknown for others.
func readImage(path string) (*image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if e, err := elf.NewFile(f); err == nil {
		return readELF(path, e)
	}
	if m, err := macho.NewFile(f); err == nil {
		return readMachO(path, m)
	}
	return nil, fmt.Errorf("%s: %w", path, ErrUnknown)
}

func readELF(path string, e *elf.File) (*image, error) {
	img := &image{}
	switch e.Machine {
	case elf.EM_X86_64:
		img.useAMD64()
	case elf.EM_AARCH64:
		img.useARM64()
	default:
		return nil, fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	var errs error
	for _, s := range e.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := s.Data()
		errs = errors.Join(errs, err)
		switch s.Name {
		case ".text":
			img.text, img.textAddr = data, s.Addr
		case ".gopclntab", ".data.rel.ro.gopclntab":
			img.lines = data
		default:
			img.data = append(img.data, data)
		}
	}
	return img.checkComplete(path, errs)
}

func readMachO(path string, m *macho.File) (*image, error) {
	img := &image{}
	switch m.Cpu {
	case macho.CpuAmd64:
		img.useAMD64()
	case macho.CpuArm64:
		img.useARM64()
	default:
		return nil, fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	var errs error
	for _, s := range m.Sections {
		const typeMask, zeroFill = 0xff, 1 // SECTION_TYPE and S_ZEROFILL: no content in the file
		if s.Flags&typeMask == zeroFill {
			continue
		}
		data, err := s.Data()
		errs = errors.Join(errs, err)
		switch s.Name {
		case "__text":
			img.text, img.textAddr = data, s.Addr
		case "__gopclntab":
			img.lines = data
		default:
			img.data = append(img.data, data)
		}
	}
	return img.checkComplete(path, errs)
}

func (img *image) checkComplete(path string, err error) (*image, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(img.text) == 0 || len(img.lines) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	return img, nil
}
