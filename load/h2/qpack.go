package h2

// QPACK, the header compression of HTTP/3 (RFC 9204), uses the integers and Huffman codes of HPACK. These
// functions are for package h3.

// AppendInteger appends n (RFC 7541, section 5.1). It starts in the low prefix bits of a byte with the high
// bits of first.
func AppendInteger(b []byte, first byte, prefix, n int) []byte {
	return appendInteger(b, first, prefix, n)
}

// ReadInteger reads an integer from the low prefix bits of b[0] on, and returns the rest of b. It rejects
// more than five bytes.
func ReadInteger(b []byte, prefix int) (n int, rest []byte, err error) { return readInteger(b, prefix) }

// AppendDecoded decodes the Huffman code s and appends the result.
func AppendDecoded(b, s []byte) ([]byte, error) { return huffmanCode.decodeString(b, s) }
