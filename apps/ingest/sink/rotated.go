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

// rotatedFile is a rotated file, by its name: PATH, a point, perhaps a time and a point, and a
// number.
type rotatedFile struct {
	name   string
	number int
	torn   bool  // its sync failed, and it is not truncated yet
	good   int64 // its valid bytes; only of a torn one
}

// timeLayout is the format of a time in a name, in UTC.
const timeLayout = "20060102T150405Z"

// tornMark is followed by the number of valid bytes.
const tornMark = ".torn@"

// finalName returns the name without the mark.
func (p rotatedFile) finalName() string {
	name, _, _ := strings.Cut(p.name, tornMark)
	return name
}

// parseName parses the name of a rotated file; it returns false for any other file.
func (s *store) parseName(name string) (rotatedFile, bool) {
	p := rotatedFile{name: name}
	rest, ok := strings.CutPrefix(name, filepath.Base(s.path)+".")
	if !ok {
		return rotatedFile{}, false
	}
	rest, good, marked := strings.Cut(rest, tornMark)
	if p.torn = marked; marked {
		var err error
		if p.good, err = strconv.ParseInt(good, 10, 64); err != nil || p.good < 0 {
			return rotatedFile{}, false
		}
	}
	if at, number, timed := strings.Cut(rest, "."); timed {
		if _, err := time.Parse(timeLayout, at); err != nil {
			return rotatedFile{}, false
		}
		rest = number
	}
	n, err := strconv.Atoi(rest)
	p.number = n
	return p, err == nil && n > 0
}

// putAway renames the file, which is closed, to the next rotated name, with mark after it. A file
// that another process has removed is no error.
func (s *store) putAway(mark string) (rotatedFile, error) {
	const tries = 1000 // numbers in a row that are taken, by files that came after open
	for number := s.number + 1; number <= s.number+tries; number++ {
		name := filepath.Base(s.path) + "."
		if s.now != nil {
			name += s.now().UTC().Format(timeLayout) + "."
		}
		name += strconv.Itoa(number) + mark
		switch err := s.files.RenameNew(s.path, filepath.Join(filepath.Dir(s.path), name)); {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return rotatedFile{}, nil
		case err != nil:
			return rotatedFile{}, err
		}
		s.number = number
		p, _ := s.parseName(name)
		return p, nil
	}
	return rotatedFile{}, fmt.Errorf("rename %s: %d numbers are taken", s.path, tries)
}
