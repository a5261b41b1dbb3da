package h2

// QPACK, the header compression of HTTP/3 (RFC 9204), writes integers and Huffman codes
// like HPACK, that of HTTP/2. AppendInteger, ReadInteger and AppendDecoded are exported
// for package h3.

// AppendInteger appends n (RFC 7541, section 5.1). The number begins in the low prefix bits
// of a byte, whose other bits are those of first, and continues in the bytes after it.
func AppendInteger(b []byte, first byte, prefix, n int) []byte {
	return appendInteger(b, first, prefix, n)
}

// ReadInteger returns the integer that begins in the low prefix bits of b[0], and the rest
// of b after it. It rejects integers of more than five bytes.
func ReadInteger(b []byte, prefix int) (n int, rest []byte, err error) { return readInteger(b, prefix) }

// AppendDecoded appends the bytes that s encodes in the Huffman code of HPACK.
func AppendDecoded(b, s []byte) ([]byte, error) { return huffmanCode.decodeString(b, s) }
