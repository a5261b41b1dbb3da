package h2

// static is the static table (RFC 7541, appendix A), from index 1.
var static = [...][2]string{
	{":authority", ""},
	{":method", "GET"},
	{":method", "POST"},
	{":path", "/"},
	{":path", "/index.html"},
	{":scheme", "http"},
	{":scheme", "https"},
	{":status", "200"},
	{":status", "204"},
	{":status", "206"},
	{":status", "304"},
	{":status", "400"},
	{":status", "404"},
	{":status", "500"},
	{"accept-charset", ""},
	{"accept-encoding", "gzip, deflate"},
	{"accept-language", ""},
	{"accept-ranges", ""},
	{"accept", ""},
	{"access-control-allow-origin", ""},
	{"age", ""},
	{"allow", ""},
	{"authorization", ""},
	{"cache-control", ""},
	{"content-disposition", ""},
	{"content-encoding", ""},
	{"content-language", ""},
	{"content-length", ""},
	{"content-location", ""},
	{"content-range", ""},
	{"content-type", ""},
	{"cookie", ""},
	{"date", ""},
	{"etag", ""},
	{"expect", ""},
	{"expires", ""},
	{"from", ""},
	{"host", ""},
	{"if-match", ""},
	{"if-modified-since", ""},
	{"if-none-match", ""},
	{"if-range", ""},
	{"if-unmodified-since", ""},
	{"last-modified", ""},
	{"link", ""},
	{"location", ""},
	{"max-forwards", ""},
	{"proxy-authenticate", ""},
	{"proxy-authorization", ""},
	{"range", ""},
	{"referer", ""},
	{"refresh", ""},
	{"retry-after", ""},
	{"server", ""},
	{"set-cookie", ""},
	{"strict-transport-security", ""},
	{"transfer-encoding", ""},
	{"user-agent", ""},
	{"vary", ""},
	{"via", ""},
	{"www-authenticate", ""},
}

// entry is one of the dynamic table.
type entry struct{ name, value string }

// size is what an entry takes of the table's size (RFC 7541, section 4.1).
func (e entry) size() int { return len(e.name) + len(e.value) + 32 }

// table is the dynamic table: what a block has put there for later ones.
type table struct {
	entries []entry // the newest last
	size    int
	max     int
}

// add puts an entry in, which costs older ones their place; one that is larger
// than the table empties it.
func (t *table) add(e entry) {
	t.shrink(t.max - e.size())
	if e.size() <= t.max {
		t.entries = append(t.entries, e)
		t.size += e.size()
	}
}

// shrink drops the oldest until no more than so many bytes are taken.
func (t *table) shrink(most int) {
	drop := 0
	for t.size > most && drop < len(t.entries) {
		t.size -= t.entries[drop].size()
		drop++
	}
	t.entries = append(t.entries[:0], t.entries[drop:]...)
}

// at is the entry of an index, which counts the static table's first and then
// from the newest to the oldest; false: there is none.
func (t *table) at(i int) (name, value string, ok bool) {
	if i >= 1 && i <= len(static) {
		return static[i-1][0], static[i-1][1], true
	}
	if i -= len(static); i >= 1 && i <= len(t.entries) {
		e := t.entries[len(t.entries)-i]
		return e.name, e.value, true
	}
	return "", "", false
}
