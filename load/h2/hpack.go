package h2

// This file implements HPACK, the header compression of HTTP/2. Sections in its comments are those of RFC
// 7541.

// Decoder reads the header blocks of one direction of a connection, in order.
type Decoder struct {
	limit       int // bytes
	table       table
	name, value []byte // buffers of the current field
}

// NewDecoder returns a decoder for the HeaderTableSize that was sent to the peer, in bytes. With 0, no
// block depends on earlier blocks.
func NewDecoder(limit int) *Decoder {
	return &Decoder{limit: limit, table: table{max: limit}}
}

// Reset prepares the decoder for a new connection.
func (d *Decoder) Reset() { d.table.resetTo(d.limit) }

// Decode parses one block and passes its fields in order to field. name and value are valid until field
// returns. An error of field ends Decode. After an error, call Reset before the next Decode.
func (d *Decoder) Decode(block []byte, field func(name, value []byte) error) error {
	for hasField := false; len(block) > 0; {
		var name, value []byte
		var addToTable bool
		var err error
		switch c := block[0]; { // its high bits select the kind of the field
		case c&0x80 != 0: // section 6.1: the field is in a table
			name, value, block, err = d.readIndexed(block)
		case c&0xe0 == 0x20: // section 6.3: the size of the table changes
			if hasField {
				return Error("a size of the table behind fields")
			}
			if block, err = d.resizeTable(block); err == nil {
				continue
			}
		default: // section 6.2: a literal
			addToTable = c&0x40 != 0
			name, value, block, err = d.readLiteral(block, addToTable)
		}
		if err != nil {
			return err
		}
		if addToTable && d.table.max > 0 {
			d.table.addEntry(name, value)
		}
		if err := field(name, value); err != nil {
			return err
		}
		hasField = true
	}
	return nil
}

func (d *Decoder) resizeTable(block []byte) (rest []byte, err error) {
	n, rest, err := readInteger(block, 5)
	if err != nil {
		return nil, err
	}
	if n > d.limit {
		return nil, Error("a table larger than was allowed")
	}
	d.table.max = n
	d.table.evictTo(n)
	return rest, nil
}

func (d *Decoder) readIndexed(block []byte) (name, value, rest []byte, err error) {
	i, rest, err := readInteger(block, 7)
	if err != nil {
		return nil, nil, nil, err
	}
	n, v, ok := d.table.appendTo(d.name[:0], d.value[:0], i)
	if !ok {
		return nil, nil, nil, Error("an index of nothing")
	}
	d.name, d.value = n, v
	return n, v, rest, nil
}

func (d *Decoder) readLiteral(block []byte, addToTable bool) (name, value, rest []byte, err error) {
	prefix := 4
	if addToTable {
		prefix = 6
	}
	i, rest, err := readInteger(block, prefix)
	if err != nil {
		return nil, nil, nil, err
	}
	if i == 0 {
		name, rest, err = readString(rest, &d.name)
	} else if n, v, ok := d.table.appendTo(d.name[:0], d.value[:0], i); ok {
		d.name, d.value, name = n, v, n
	} else {
		err = Error("an index of nothing")
	}
	if err == nil {
		value, rest, err = readString(rest, &d.value)
	}
	return name, value, rest, err
}

// readInteger parses a number from the low prefix bits of the first byte on (section 5.1). It rejects more
// than five bytes, which no field needs.
func readInteger(b []byte, prefix int) (n int, rest []byte, err error) {
	const cut = Error("a header block that is cut off")
	if len(b) == 0 {
		return 0, nil, cut
	}
	maxPrefix := 1<<prefix - 1
	if n = int(b[0]) & maxPrefix; n < maxPrefix {
		return n, b[1:], nil
	}
	for i, shift := 1, 0; i < len(b); i, shift = i+1, shift+7 {
		if shift > 21 { // the fifth byte has shift 21
			return 0, nil, Error("a number in a header block that is too large")
		}
		if n += int(b[i]&0x7f) << shift; b[i]&0x80 == 0 {
			return n, b[i+1:], nil
		}
	}
	return 0, nil, cut
}

// readString parses a string (section 5.2). room is the buffer for decoding a Huffman code.
func readString(b []byte, room *[]byte) (s, rest []byte, err error) {
	n, rest, err := readInteger(b, 7)
	if err != nil {
		return nil, nil, err
	}
	if n > len(rest) {
		return nil, nil, Error("a header block that is cut off")
	}
	if s, rest = rest[:n], rest[n:]; b[0]&0x80 == 0 {
		return s, rest, nil
	}
	decoded, err := huffmanCode.decodeString((*room)[:0], s)
	if err != nil {
		return nil, nil, err
	}
	*room = decoded
	return decoded, rest, nil
}

// InStatic reports whether the static table contains both name and value.
func InStatic(name, value string) bool { return staticIndex(name, value) > 0 }

// staticIndex returns the index of a field in the static table, from 1, or 0.
func staticIndex(name, value string) int {
	for i, f := range static {
		if f[0] == name && f[1] == value {
			return i + 1
		}
	}
	return 0
}

// AppendField appends a field without adding it to a table: an index of the static table, or a literal.
func AppendField(b []byte, name, value string) []byte {
	if i := staticIndex(name, value); i > 0 {
		return appendInteger(b, 0x80, 7, i)
	}
	return AppendLiteral(b, name, value)
}

// AppendLiteral appends a field as a literal, without adding it to a table. It ends with the bytes of the
// value.
func AppendLiteral(b []byte, name, value string) []byte { return appendLiteral(b, 0, 4, name, value) }

// appendLiteral appends a literal. The high bits of first select its kind. The index of the name starts in
// the low prefix bits.
func appendLiteral(b []byte, first byte, prefix int, name, value string) []byte {
	index := 0
	for i, f := range static {
		if f[0] == name {
			index = i + 1
			break
		}
	}
	if b = appendInteger(b, first, prefix, index); index == 0 {
		b = append(appendInteger(b, 0, 7, len(name)), name...)
	}
	return append(appendInteger(b, 0, 7, len(value)), value...)
}

// appendInteger appends a number. It starts in the low prefix bits of a byte with the high bits of first.
func appendInteger(b []byte, first byte, prefix, n int) []byte {
	maxPrefix := 1<<prefix - 1
	if n < maxPrefix {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(maxPrefix))
	for n -= maxPrefix; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
