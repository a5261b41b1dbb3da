package h2

import "math"

// Field is one that header blocks carry again and again, made ready for that.
type Field struct {
	id   int    // in its Fields
	size int    // in a table
	keep []byte // as a literal that puts it into the table
	lone []byte // as one that does not
}

// Fields are those of all connections that say the same things.
type Fields struct{ known map[[2]string]*Field }

// Ready is the field of a name and a value, the same one for the same two.
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
		keep: appendLiteral(nil, 0x40, 6, name, value), lone: AppendLiteral(nil, name, value),
	}
	l.known[key] = f
	return f
}

// Len is how many bytes a block takes for f at most.
func (f *Field) Len() int { return max(len(f.keep), len(f.lone)) }

// Encoder writes the header blocks of one direction of a connection, one after
// another: what a block says for the first time goes into the dynamic table, and
// later blocks have its index. All fields are of one Fields. Its zero value is to
// be Reset.
type Encoder struct {
	queue []*Field // in the table, the oldest first
	put   []int    // by field: it was the so manieth to be put into the table; zero: never
	puts  int
	size  int // bytes that the table takes
	max   int
	least int // that max was set to since the last block; above max: it was not
}

// Reset makes the encoder write for a new connection.
func (e *Encoder) Reset() {
	clear(e.put)
	*e = Encoder{queue: e.queue[:0], put: e.put, max: TableSize, least: math.MaxInt}
}

// Allow keeps the table to what the other side allows, which the next block will
// say (section 4.2). More than TableSize is not used.
func (e *Encoder) Allow(size uint32) {
	to := int(min(size, TableSize))
	if to == e.max {
		return
	}
	e.max, e.least = to, min(e.least, to)
	e.shrink(to)
}

// Begin appends what a block begins with: the sizes that the table has been set
// to, if it has.
func (e *Encoder) Begin(b []byte) []byte {
	if e.least > e.max {
		return b
	}
	if e.least < e.max {
		b = appendInteger(b, 0x20, 5, e.least)
	}
	e.least = math.MaxInt
	return appendInteger(b, 0x20, 5, e.max)
}

// Append appends a field.
func (e *Encoder) Append(b []byte, f *Field) []byte {
	for len(e.put) <= f.id {
		e.put = append(e.put, 0)
	}
	if n := e.put[f.id]; n > e.puts-len(e.queue) {
		return appendInteger(b, 0x80, 7, len(static)+1+e.puts-n)
	}
	if f.size > e.max {
		return append(b, f.lone...)
	}
	e.shrink(e.max - f.size)
	e.puts++
	e.queue, e.size, e.put[f.id] = append(e.queue, f), e.size+f.size, e.puts
	return append(b, f.keep...)
}

// shrink drops the oldest until no more than so many bytes are taken.
func (e *Encoder) shrink(most int) {
	drop := 0
	for e.size > most {
		e.size -= e.queue[drop].size
		drop++
	}
	if drop > 0 {
		e.queue = append(e.queue[:0], e.queue[drop:]...)
	}
}
