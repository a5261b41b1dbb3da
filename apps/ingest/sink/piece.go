package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// piece is a file that was put away, by its name: PATH, a point, perhaps a time
// and a point, and a number.
type piece struct {
	name   string
	number int
	torn   bool  // it was given up and is not settled
	good   int64 // bytes of it that count; only of a torn one
}

// stamp is how a time is written into a name, in UTC.
const stamp = "20060102T150405Z"

// tornMark is followed by the number of bytes that count.
const tornMark = ".torn@"

// settled is the name without the mark.
func (p piece) settled() string {
	name, _, _ := strings.Cut(p.name, tornMark)
	return name
}

// parse says what is in a name, and whether it is a piece's at all.
func (s *store) parse(name string) (piece, bool) {
	p := piece{name: name}
	rest, ok := strings.CutPrefix(name, filepath.Base(s.path)+".")
	if !ok {
		return piece{}, false
	}
	rest, good, marked := strings.Cut(rest, tornMark)
	if p.torn = marked; marked {
		var err error
		if p.good, err = strconv.ParseInt(good, 10, 64); err != nil || p.good < 0 {
			return piece{}, false
		}
	}
	if at, number, timed := strings.Cut(rest, "."); timed {
		if _, err := time.Parse(stamp, at); err != nil {
			return piece{}, false
		}
		rest = number
	}
	n, err := strconv.Atoi(rest)
	p.number = n
	return p, err == nil && n > 0
}

// putAway renames the file, which is closed, to what the next piece is called,
// with mark behind it. That somebody else has removed it is no error.
func (s *store) putAway(mark string) (piece, error) {
	const tries = 1000 // numbers in a row that are taken, by files that came after open
	for number := s.number + 1; number <= s.number+tries; number++ {
		name := filepath.Base(s.path) + "."
		if s.now != nil {
			name += s.now().UTC().Format(stamp) + "."
		}
		name += strconv.Itoa(number) + mark
		switch err := s.files.RenameNew(s.path, filepath.Join(filepath.Dir(s.path), name)); {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return piece{}, nil
		case err != nil:
			return piece{}, err
		}
		s.number = number
		p, _ := s.parse(name)
		return p, nil
	}
	return piece{}, fmt.Errorf("rename %s: %d numbers are taken", s.path, tries)
}
