package h2

// lengths contains the length in bits of the Huffman code of each byte (RFC 7541, appendix B). The lengths
// define the code, which is canonical: codes of one length are consecutive, in the order of their bytes.
// Longer codes follow.
var lengths = [256]uint8{
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
	28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
	6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
	5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
	13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
	15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
	6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
	20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
	24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
	22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
	26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
	19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
	20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
	26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
}

const (
	minCode = 5
	maxCode = 30 // also for the end of a string, all ones
)

// huffman decodes by length. The next 32 bits of the input are compared with the limit of each length, from
// the shortest. The first limit above the bits gives the length of the next code.
type huffman struct {
	bytes [256]byte           // in the order of their codes
	limit [maxCode + 1]uint64 // by length: the first longer code, left-aligned in 32 bits
	shift [maxCode + 1]uint32 // by length: code plus shift is the index in bytes
}

var huffmanCode = newHuffman() //nolint:gochecknoglobals // a table that is computed once

func newHuffman() *huffman {
	h := new(huffman)
	code, index := uint32(0), uint32(0)
	for length := minCode; length <= maxCode; length++ {
		code <<= 1
		h.shift[length] = index - code
		for b, l := range lengths {
			if int(l) == length {
				h.bytes[index] = byte(b)
				index++
				code++
			}
		}
		h.limit[length] = uint64(code) << (32 - length)
	}
	return h
}

// decodeString decodes s and appends the result. The unused bits of the last byte must be ones.
func (h *huffman) decodeString(out, s []byte) ([]byte, error) {
	var bits uint64 // left-aligned
	n := 0          // valid bits
	for {
		for ; n <= 56 && len(s) > 0; n += 8 {
			bits |= uint64(s[0]) << (56 - n)
			s = s[1:]
		}
		ahead := uint32((bits | ^uint64(0)>>n) >> 32) // the next 32 bits; ones after the end
		length := minCode
		for length <= maxCode && uint64(ahead) >= h.limit[length] {
			length++
		}
		if length > n || length > maxCode {
			if n >= 8 || ahead != ^uint32(0) {
				return nil, Error("a string that is no Huffman code")
			}
			return out, nil
		}
		out = append(out, h.bytes[ahead>>(32-length)+h.shift[length]])
		bits <<= length
		n -= length
	}
}
