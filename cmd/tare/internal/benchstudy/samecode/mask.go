package samecode

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// This file masks the addresses in the machine code of a function, because all addresses of two
// binaries differ. For example, a call of p.F becomes its opcode and <p.F+0>.

func (img *image) useAMD64() { img.mask = maskAMD64 }
func (img *image) useARM64() { img.mask = maskARM64 }

// masker builds the masked code of a function. <name+offset> replaces addresses of functions, and
// <data> others.
type masker struct {
	out    function
	entry  uint64 // address of the function
	size   uint64 // length of its code in bytes
	locate locator
}

func newMasker(entry uint64, code []byte, locate locator) *masker {
	m := &masker{entry: entry, size: uint64(len(code)), locate: locate}
	m.out.code = make([]byte, 0, len(code)+len(code)/2) // names are longer than addresses
	return m
}

// writeTarget writes the replacement of an address. Inside the function itself it is the distance
// from the beginning.
func (m *masker) writeTarget(addr uint64) {
	if offset := addr - m.entry; offset < m.size { // the offset is unsigned: huge for an address before the entry
		m.out.code = fmt.Appendf(m.out.code, "<%d>", offset)
		return
	}
	name, offset, ok := m.locate(addr)
	if !ok {
		m.out.code = append(m.out.code, "<data>"...)
		return
	}
	m.out.refs = append(m.out.refs, name)
	m.out.code = fmt.Appendf(m.out.code, "<%s+%d>", name, offset)
}

// padAMD64 is the byte that fills the space between functions: an INT3 instruction.
const padAMD64 = 0xcc

// maskAMD64 masks addresses relative to the instruction pointer. From the first instruction that it
// cannot decode, it does not mask the code. Then equal functions may seem to differ, but functions
// that differ never seem equal.
func maskAMD64(entry uint64, code []byte, locate locator) function {
	m := newMasker(entry, code, locate)
	for i := 0; i < len(code) && !isPadding(code[i:], padAMD64); {
		inst, err := decodeAMD64(code[i:])
		if err != nil || inst.Len == 0 {
			end := len(code)
			for end > i && code[end-1] == padAMD64 {
				end--
			}
			m.out.code, m.out.undecoded = append(m.out.code, code[i:end]...), true
			break
		}
		raw := code[i : i+inst.Len]
		i += inst.Len
		if inst.PCRel == 0 {
			m.out.code = append(m.out.code, raw...)
			continue
		}
		end := inst.PCRelOff + inst.PCRel // the address is relative to the next instruction
		m.out.code = append(m.out.code, raw[:inst.PCRelOff]...)
		m.writeTarget(entry + uint64(i) + uint64(readSigned(raw[inst.PCRelOff:end])))
		m.out.code = append(m.out.code, raw[end:]...)
	}
	return m.out
}

func readSigned(number []byte) int64 {
	switch len(number) {
	case 1:
		return int64(int8(number[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(number)))
	}
	return int64(int32(binary.LittleEndian.Uint32(number)))
}

// maxPadding is a number of bytes that is larger than the space between two functions.
const maxPadding = 64

func isPadding(code []byte, padding byte) bool {
	return len(code) < maxPadding && bytes.Count(code, []byte{padding}) == len(code)
}

// decodeAMD64 calls x86asm.Decode. That function panics on some instructions of AVX-512, which
// becomes an error, and misses some addresses, which decodeAMD64 adds.
func decodeAMD64(code []byte) (inst x86asm.Inst, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decode: %v", r)
		}
	}()
	inst, err = x86asm.Decode(code, 64)
	if err == nil && inst.PCRel == 0 {
		inst.PCRelOff, inst.PCRel = vectorAddress(code[:inst.Len])
	}
	return inst, err
}

// vectorAddress returns the position and the size of the relative address in an instruction with a
// VEX or EVEX prefix, or 0, 0 if it has none.
func vectorAddress(code []byte) (offset, size int) {
	const vex2, vex3, evex = 0xc5, 0xc4, 0x62
	operands := map[byte]int{vex2: 3, vex3: 4, evex: 5}[code[0]] // position of the ModRM byte; 0 if no prefix
	if operands == 0 || len(code) < operands+5 {
		return 0, 0
	}
	const relative, mask = 0x05, 0xc7 // ModRM: mod 0 and rm 5 mean that a relative address of 4 bytes follows
	if code[operands]&mask != relative {
		return 0, 0
	}
	return operands + 1, 4
}

// Instructions of arm64 that compose an address. ADRP has the page; ADD, a load or a store has the
// offset in the page. A word is an ADRP if word&maskADRP == opADRP.
const (
	opADRP, maskADRP = 0x90000000, 0x9f000000
	opADD, maskADD   = 0x91000000, 0xffc00000 // 64 bits, immediate
	opLoad, maskLoad = 0x39000000, 0x3b000000 // register plus an immediate
	pageBits         = 3<<29 | 0x7ffff<<5     // the page in ADRP
	offsetBits       = 0xfff << 10            // the offset in the page
)

func maskARM64(entry uint64, code []byte, locate locator) function {
	m := newMasker(entry, code, locate)
	var hasPage [32]bool // registers that contain the page of an address
	for i := 0; i+4 <= len(code) && !isPadding(code[i:], 0); i += 4 {
		word := binary.LittleEndian.Uint32(code[i:])
		target, source := word&31, word>>5&31
		switch {
		case word&maskADRP == opADRP:
			hasPage[target] = true
			m.writeWord(word &^ pageBits)
		case word&maskADD == opADD && hasPage[source]:
			hasPage[target] = false // it now contains the complete address
			m.writeWord(word &^ offsetBits)
		case word&maskLoad == opLoad && hasPage[source]:
			m.writeWord(word &^ offsetBits)
		default:
			m.writeBranch(entry+uint64(i), word, code[i:])
		}
	}
	return m.out
}

// writeBranch masks the target of a branch at address pc. code begins with the instruction word.
func (m *masker) writeBranch(pc uint64, word uint32, code []byte) {
	inst, err := arm64asm.Decode(code)
	distance, ok := branchDistance(inst)
	if err != nil || !ok {
		m.writeWord(word)
		return
	}
	m.out.code = append(m.out.code, inst.Op.String()...)
	for _, a := range inst.Args {
		if _, isDistance := a.(arm64asm.PCRel); a != nil && !isDistance {
			m.out.code = append(m.out.code, a.String()...)
		}
	}
	m.writeTarget(pc + uint64(distance))
}

func (m *masker) writeWord(w uint32) { m.out.code = binary.LittleEndian.AppendUint32(m.out.code, w) }

// branchDistance returns the bytes from an instruction to the address that it refers to, or false if
// it refers to none.
func branchDistance(inst arm64asm.Inst) (int64, bool) {
	for _, a := range inst.Args {
		if distance, ok := a.(arm64asm.PCRel); ok {
			return int64(distance), true
		}
	}
	return 0, false
}
