package h2

// Decoder reads the header blocks of one direction of a connection, one after
// another.
type Decoder struct {
	limit       int // what the table's size may be set to
	table       table
	name, value []byte // of the field under way, where they are not in the block
}

// NewDecoder has a dynamic table of up to limit bytes, as HeaderTableSize said to
// the other side. With 0 a block means the same whatever came before it.
func NewDecoder(limit int) *Decoder {
	return &Decoder{limit: limit, table: table{max: limit}}
}

// Reset makes the decoder read a new connection.
func (d *Decoder) Reset() { d.table.reset(d.limit) }

// Decode reads one block and hands over its fields in order. Name and value hold
// until the function returns; its error ends the block. After an error the decoder
// is of no more use.
func (d *Decoder) Decode(block []byte, field func(name, value []byte) error) error {
	for began := false; len(block) > 0; {
		var name, value []byte
		var keep bool
		var err error
		switch c := block[0]; {
		case c&0x80 != 0: // section 6.1: all of it in a table
			name, value, block, err = d.indexed(block)
		case c&0xe0 == 0x20: // section 6.3: another size of the table
			if began {
				return Error("a size of the table behind fields")
			}
			if block, err = d.resize(block); err == nil {
				continue
			}
		default: // section 6.2: the value, and perhaps the name
			keep = c&0x40 != 0
			name, value, block, err = d.literal(block, keep)
		}
		if err != nil {
			return err
		}
		if keep && d.table.max > 0 {
			d.table.add(name, value)
		}
		if err := field(name, value); err != nil {
			return err
		}
		began = true
	}
	return nil
}

func (d *Decoder) resize(block []byte) (rest []byte, err error) {
	n, rest, err := integer(block, 5)
	if err != nil {
		return nil, err
	}
	if n > d.limit {
		return nil, Error("a table larger than was allowed")
	}
	d.table.max = n
	d.table.shrink(n)
	return rest, nil
}

func (d *Decoder) indexed(block []byte) (name, value, rest []byte, err error) {
	i, rest, err := integer(block, 7)
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

func (d *Decoder) literal(block []byte, keep bool) (name, value, rest []byte, err error) {
	prefix := 4
	if keep {
		prefix = 6
	}
	i, rest, err := integer(block, prefix)
	if err != nil {
		return nil, nil, nil, err
	}
	if i == 0 {
		name, rest, err = text(rest, &d.name)
	} else if n, v, ok := d.table.appendTo(d.name[:0], d.value[:0], i); ok {
		d.name, d.value, name = n, v, n
	} else {
		err = Error("an index of nothing")
	}
	if err == nil {
		value, rest, err = text(rest, &d.value)
	}
	return name, value, rest, err
}

// integer reads a number whose first bits are the last ones of the first byte
// (section 5.1). Those of more than five bytes are refused: nothing is that large.
func integer(b []byte, prefix int) (n int, rest []byte, err error) {
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

// text reads a string (section 5.2), into room where it is a Huffman code.
func text(b []byte, room *[]byte) (s, rest []byte, err error) {
	n, rest, err := integer(b, 7)
	if err != nil {
		return nil, nil, err
	}
	if n > len(rest) {
		return nil, nil, Error("a header block that is cut off")
	}
	if s, rest = rest[:n], rest[n:]; b[0]&0x80 == 0 {
		return s, rest, nil
	}
	long, err := code.expand((*room)[:0], s)
	if err != nil {
		return nil, nil, err
	}
	*room = long
	return long, rest, nil
}

// InStatic reports whether the static table has all of a field.
func InStatic(name, value string) bool { return staticIndex(name, value) > 0 }

func staticIndex(name, value string) int {
	for i, f := range static {
		if f[0] == name && f[1] == value {
			return i + 1
		}
	}
	return 0
}

// AppendField appends a field without putting it into a table: as an index
// where the static table has all of it, and else as a literal.
func AppendField(b []byte, name, value string) []byte {
	if i := staticIndex(name, value); i > 0 {
		return appendInteger(b, 0x80, 7, i)
	}
	return AppendLiteral(b, name, value)
}

// AppendLiteral appends a field whose value is the last that is appended, byte
// for byte, without putting it into a table. The name is an index where the static
// table has it.
func AppendLiteral(b []byte, name, value string) []byte { return appendLiteral(b, 0, 4, name, value) }

// appendLiteral appends a literal of the kind that its first bits say.
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

// appendInteger appends a number behind the first bits of a byte.
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
