package h2

import "math"

// Field is an encoded header field for repeated use.
type Field struct {
	id      int    // index in its Fields
	size    int    // size in a table
	indexed []byte // literal that also adds it to the table
	literal []byte // literal that does not
}

// Fields are the fields of all connections that send the same requests.
type Fields struct{ known map[[2]string]*Field }

// Ready returns the field of a name and a value. Equal arguments give the same field.
func (l *Fields) Ready(name, value string) *Field {
	key := [2]string{name, value}
	if f := l.known[key]; f != nil {
		return f
	}
	if l.known == nil {
		l.known = map[[2]string]*Field{}
	}
	f := &Field{
		id: len(l.known), size: entrySize(len(name), len(value)),
		indexed: appendLiteral(nil, 0x40, 6, name, value), literal: AppendLiteral(nil, name, value),
	}
	l.known[key] = f
	return f
}

// Len returns the maximal number of bytes of f in a block.
func (f *Field) Len() int { return max(len(f.indexed), len(f.literal)) }

// Encoder writes the header blocks of one direction of a connection, one after another: the first use of a
// field adds it to the dynamic table, and later blocks contain its index. All fields are of one Fields. The
// zero value must be Reset.
type Encoder struct {
	queue      []*Field // fields in the table, the oldest first
	serials    []int    // by field: serial number of its last entry; 0: none
	lastSerial int
	size       int // size of the table
	max        int
	minMax     int // least max since the last block; above max: unchanged
}

// Reset prepares the encoder for a new connection.
func (e *Encoder) Reset() {
	clear(e.serials)
	*e = Encoder{queue: e.queue[:0], serials: e.serials, max: TableSize, minMax: math.MaxInt}
}

// Allow limits the table to the size that the peer permits, which the next block will announce (section 4.2).
// At most TableSize is used.
func (e *Encoder) Allow(size uint32) {
	to := int(min(size, TableSize))
	if to == e.max {
		return
	}
	e.max, e.minMax = to, min(e.minMax, to)
	e.evictTo(to)
}

// Begin appends the start of a block: the changed sizes of the table, if any.
func (e *Encoder) Begin(b []byte) []byte {
	if e.minMax > e.max {
		return b
	}
	if e.minMax < e.max {
		b = appendInteger(b, 0x20, 5, e.minMax)
	}
	e.minMax = math.MaxInt
	return appendInteger(b, 0x20, 5, e.max)
}

// Append appends a field.
func (e *Encoder) Append(b []byte, f *Field) []byte {
	for len(e.serials) <= f.id {
		e.serials = append(e.serials, 0)
	}
	if n := e.serials[f.id]; n > e.lastSerial-len(e.queue) {
		return appendInteger(b, 0x80, 7, len(static)+1+e.lastSerial-n)
	}
	if f.size > e.max {
		return append(b, f.literal...)
	}
	e.evictTo(e.max - f.size)
	e.lastSerial++
	e.queue, e.size, e.serials[f.id] = append(e.queue, f), e.size+f.size, e.lastSerial
	return append(b, f.indexed...)
}

// evictTo removes the oldest fields until the table has at most max bytes.
func (e *Encoder) evictTo(most int) {
	drop := 0
	for e.size > most {
		e.size -= e.queue[drop].size
		drop++
	}
	if drop > 0 {
		e.queue = append(e.queue[:0], e.queue[drop:]...)
	}
}
