package h2

import "math"

// Field is a header field that is encoded once and used in many header blocks.
type Field struct {
	id      int    // index in its Fields
	size    int    // size of its entry in a table
	indexed []byte // literal that also adds the field to the table
	literal []byte // literal that does not add the field to the table
}

// Fields is a set of encoded header fields, which all connections that send the same requests share.
type Fields struct{ known map[[2]string]*Field }

// Ready returns the Field of a name and a value: the same one for equal arguments.
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
// field adds it to the dynamic table, and later blocks contain its index. All fields must be of the same Fields.
// Reset must be called before the first use.
type Encoder struct {
	queue      []*Field // fields in the table, the oldest first
	serials    []int    // serial number of the last entry of each field, by Field.id; 0 if there was none
	lastSerial int      // serial number of the newest entry
	size       int      // size of the table in bytes
	max        int      // largest size of the table in bytes
	minMax     int      // least value of max since the last block; above max if max has not changed since
}

// Reset prepares the encoder for a new connection.
func (e *Encoder) Reset() {
	clear(e.serials)
	*e = Encoder{queue: e.queue[:0], serials: e.serials, max: TableSize, minMax: math.MaxInt}
}

// Allow limits the table to the size that the peer permits, but at most to TableSize. The next block announces the
// new limit (RFC 7541, section 4.2).
func (e *Encoder) Allow(size uint32) {
	limit := int(min(size, TableSize))
	if limit == e.max {
		return
	}
	e.max, e.minMax = limit, min(e.minMax, limit)
	e.evictTo(limit)
}

// Begin appends the start of a block: the new limit of the table, if it has changed since the last block. If the
// limit was lower in between, that lower limit precedes it.
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

// Append appends a field: its index if it is in the table, otherwise a literal. The literal adds the field to the
// table if it fits.
func (e *Encoder) Append(b []byte, f *Field) []byte {
	for len(e.serials) <= f.id {
		e.serials = append(e.serials, 0)
	}
	serial := e.serials[f.id]
	// The table has the last len(e.queue) entries that were added; the newest has index len(static)+1.
	if inTable := serial > e.lastSerial-len(e.queue); inTable {
		return appendInteger(b, 0x80, 7, len(static)+1+e.lastSerial-serial)
	}
	if f.size > e.max {
		return append(b, f.literal...)
	}
	e.evictTo(e.max - f.size)
	e.lastSerial++
	e.queue, e.size, e.serials[f.id] = append(e.queue, f), e.size+f.size, e.lastSerial
	return append(b, f.indexed...)
}

// evictTo removes the oldest fields until the table has at most limit bytes.
func (e *Encoder) evictTo(limit int) {
	drop := 0
	for e.size > limit {
		e.size -= e.queue[drop].size
		drop++
	}
	if drop > 0 {
		e.queue = append(e.queue[:0], e.queue[drop:]...)
	}
}
