package samecode

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"os"
)

// image contains the sections of a binary that are compared.
type image struct {
	text     []byte
	textAddr uint64
	lines    []byte   // the table of functions and lines
	data     [][]byte // sections that may hold addresses of functions
	mask     func(entry uint64, code []byte, at locate) function
}

// locate finds the function at an address.
type locate func(addr uint64) (name string, offset uint64, ok bool)

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
		img.addSection(s.Name == ".text", s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab", s.Addr, data)
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
		const zeroFilled = 1
		if s.Flags&0xff == zeroFilled {
			continue
		}
		data, err := s.Data()
		errs = errors.Join(errs, err)
		img.addSection(s.Name == "__text", s.Name == "__gopclntab", s.Addr, data)
	}
	return img.checkComplete(path, errs)
}

func (img *image) addSection(text, lines bool, addr uint64, data []byte) {
	switch {
	case text:
		img.text, img.textAddr = data, addr
	case lines:
		img.lines = data
	default:
		img.data = append(img.data, data)
	}
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
