package h2

// Decoder reads the header blocks of one direction of a connection, one after
// another.
type Decoder struct {
	limit       int // maximal size of the table
	table       table
	name, value []byte // of the current field, if they are not in the block
}

// NewDecoder returns a decoder with a dynamic table of up to limit bytes, the HeaderTableSize sent to the
// peer. With 0 a block does not depend on earlier ones.
func NewDecoder(limit int) *Decoder {
	return &Decoder{limit: limit, table: table{max: limit}}
}

// Reset prepares the decoder for a new connection.
func (d *Decoder) Reset() { d.table.resetTo(d.limit) }

// Decode parses one block and passes its fields in order. Name and value are valid until the function returns;
// its error ends the block. After an error the decoder must not be used.
func (d *Decoder) Decode(block []byte, field func(name, value []byte) error) error {
	for began := false; len(block) > 0; {
		var name, value []byte
		var keep bool
		var err error
		switch c := block[0]; {
		case c&0x80 != 0: // section 6.1: the field is in a table
			name, value, block, err = d.readIndexed(block)
		case c&0xe0 == 0x20: // section 6.3: another size of the table
			if began {
				return Error("a size of the table behind fields")
			}
			if block, err = d.resizeTable(block); err == nil {
				continue
			}
		default: // section 6.2: the value, and perhaps the name
			keep = c&0x40 != 0
			name, value, block, err = d.readLiteral(block, keep)
		}
		if err != nil {
			return err
		}
		if keep && d.table.max > 0 {
			d.table.addEntry(name, value)
		}
		if err := field(name, value); err != nil {
			return err
		}
		began = true
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

func (d *Decoder) readLiteral(block []byte, keep bool) (name, value, rest []byte, err error) {
	prefix := 4
	if keep {
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

// readInteger parses a number whose first bits are the last ones of the first byte (section 5.1). It rejects
// those of more than five bytes, which no field needs.
func readInteger(b []byte, prefix int) (n int, rest []byte, err error) {
	const cut = Error("a header block that is cut off")
	if len(b) == 0 {
		return 0, nil, cut
	}
	most := 1<<prefix - 1
	if n = int(b[0]) & most; n < most {
		return n, b[1:], nil
	}
	for i, shift := 1, 0; i < len(b); i, shift = i+1, shift+7 {
		if shift > 21 {
			return 0, nil, Error("a number in a header block that is too large")
		}
		if n += int(b[i]&0x7f) << shift; b[i]&0x80 == 0 {
			return n, b[i+1:], nil
		}
	}
	return 0, nil, cut
}

// readString parses a string (section 5.2), and expands a Huffman code into room.
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
	long, err := huffmanCode.decodeString((*room)[:0], s)
	if err != nil {
		return nil, nil, err
	}
	*room = long
	return long, rest, nil
}

// InStatic reports whether the static table contains both name and value.
func InStatic(name, value string) bool { return staticIndex(name, value) > 0 }

func staticIndex(name, value string) int {
	for i, f := range static {
		if f[0] == name && f[1] == value {
			return i + 1
		}
	}
	return 0
}

// AppendField appends a field without adding it to a table: as an index if the static table contains it,
// otherwise as a literal.
func AppendField(b []byte, name, value string) []byte {
	if i := staticIndex(name, value); i > 0 {
		return appendInteger(b, 0x80, 7, i)
	}
	return AppendLiteral(b, name, value)
}

// AppendLiteral appends a field as a literal that ends with the bytes of its value, without adding it to a
// table. The name is an index if the static table contains it.
func AppendLiteral(b []byte, name, value string) []byte { return appendLiteral(b, 0, 4, name, value) }

// appendLiteral appends a literal of the kind that first, its first bits, selects.
func appendLiteral(b []byte, first byte, prefix int, name, value string) []byte {
	at := 0
	for i, f := range static {
		if f[0] == name {
			at = i + 1
			break
		}
	}
	if b = appendInteger(b, first, prefix, at); at == 0 {
		b = append(appendInteger(b, 0, 7, len(name)), name...)
	}
	return append(appendInteger(b, 0, 7, len(value)), value...)
}

// appendInteger appends a number after the first bits of a byte.
func appendInteger(b []byte, first byte, prefix, n int) []byte {
	most := 1<<prefix - 1
	if n < most {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
