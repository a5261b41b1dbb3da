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

// rotatedFile is a parsed name: FILE.NUMBER or FILE.TIME.NUMBER, and .torn@BYTES if torn.
type rotatedFile struct {
	name       string
	number     int
	torn       bool  // not truncated yet after a failed sync
	validBytes int64 // bytes that a torn file must keep
}

const timeLayout = "20060102T150405Z"

// tornMark precedes the number of valid bytes.
const tornMark = ".torn@"

func (f rotatedFile) finalName() string {
	name, _, _ := strings.Cut(f.name, tornMark)
	return name
}

func (s *store) parseName(name string) (f rotatedFile, ok bool) {
	f.name = name
	rest, ok := strings.CutPrefix(name, filepath.Base(s.path)+".")
	if !ok {
		return rotatedFile{}, false
	}
	rest, validBytes, torn := strings.Cut(rest, tornMark)
	if torn {
		f.torn = true
		var err error
		if f.validBytes, err = strconv.ParseInt(validBytes, 10, 64); err != nil || f.validBytes < 0 {
			return rotatedFile{}, false
		}
	}
	if timeText, number, hasTime := strings.Cut(rest, "."); hasTime {
		if _, err := time.Parse(timeLayout, timeText); err != nil {
			return rotatedFile{}, false
		}
		rest = number
	}
	n, err := strconv.Atoi(rest)
	f.number = n
	return f, err == nil && n > 0
}

// renameFile renames the closed file to the next name, with suffix. It skips numbers that other programs have
// used. If one has removed the file, the result is zero.
func (s *store) renameFile(suffix string) (rotatedFile, error) {
	const maxTries = 1000
	for number := s.lastNumber + 1; number <= s.lastNumber+maxTries; number++ {
		name := filepath.Base(s.path) + "."
		if s.now != nil {
			name += s.now().UTC().Format(timeLayout) + "."
		}
		name += strconv.Itoa(number) + suffix
		switch err := s.files.RenameNew(s.path, filepath.Join(filepath.Dir(s.path), name)); {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return rotatedFile{}, nil
		case err != nil:
			return rotatedFile{}, err
		}
		s.lastNumber = number
		rotated, _ := s.parseName(name)
		return rotated, nil
	}
	return rotatedFile{}, fmt.Errorf("rename %s: %d numbers are taken", s.path, maxTries)
}
