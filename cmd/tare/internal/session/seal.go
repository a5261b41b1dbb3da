package session

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/report"
)

// A result contains commands, programs and modules that tare rerun runs or builds with. It
// therefore carries a MAC over those fields. The key is only in the data directory; a process that
// can read it can run commands as its owner already.

// sealKey is the name of the file with the key, in the data directory.
const sealKey = "key"

// sealedFields contains the fields of a result that decide what tare rerun runs.
type sealedFields struct {
	Study, Budget, Seed, Isolation string
	Procs                          int
	Env                            []string
	Asked                          tare.Asked
	Contenders                     []sealedContender
}

// sealedContender contains the sources of a contender.
type sealedContender struct {
	ID, Version, Go string
	Modules         []tare.Module
}

// computeMAC returns the MAC of a result that was read from its document.
func computeMAC(key []byte, r *tare.Result) (string, error) {
	s := sealedFields{Study: r.Study, Budget: r.Budget, Seed: r.Seed, Isolation: string(r.Plan.Isolation), Procs: r.Procs, Env: r.Env, Asked: r.Asked}
	s.Asked.Seal = ""
	for _, c := range r.Contenders {
		s.Contenders = append(s.Contenders, sealedContender{c.ID, c.Version, c.Go, c.Modules})
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sealResult records in a result that this data directory made it. The MAC covers what a reader of
// the document will see.
func sealResult(d cmdenv.Dirs, res *tare.Result) error {
	key, err := readKey(d, true)
	if err != nil {
		return err
	}
	var doc bytes.Buffer
	if err := report.JSON(&doc, res); err != nil {
		return err
	}
	read, err := history.Parse(history.ResultName, doc.Bytes())
	if err != nil {
		return err
	}
	res.Asked.Seal, err = computeMAC(key, read[0])
	return err
}

// MadeHere reports whether this data directory made a result, and that has not been changed since.
// dir is the directory that it was read from; results imported into it do not count.
func MadeHere(d cmdenv.Dirs, res *tare.Result, dir string) (bool, error) {
	if res.Asked.Seal == "" {
		return false, nil
	}
	if imported, err := history.Imported(dir); imported || err != nil {
		return false, err
	}
	key, err := readKey(d, false)
	if key == nil || err != nil {
		return false, err
	}
	want, err := computeMAC(key, res)
	return err == nil && hmac.Equal([]byte(want), []byte(res.Asked.Seal)), err
}

// readKey reads the key of the data directory. If there is no key it creates one if create is set,
// and otherwise returns nil.
func readKey(d cmdenv.Dirs, create bool) ([]byte, error) {
	const size = 32
	path := filepath.Join(d.Data, sealKey)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return nil, nil
		}
		if err := makeKey(d, path, size); err != nil {
			return nil, fmt.Errorf("make the key of the data directory: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of the data directory: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != size {
		return nil, fmt.Errorf("%s is damaged; remove it, and what was measured before needs tare rerun --trust", path)
	}
	return key, nil
}

// makeKey writes a new key for its owner only, atomically. If another tare was quicker, its key
// stays.
func makeKey(d cmdenv.Dirs, path string, size int) error {
	if err := d.MakeData(); err != nil {
		return err
	}
	key := make([]byte, size)
	_, _ = rand.Read(key) // never fails
	err := atomicfile.WriteNew(atomicfile.System{}, path, fmt.Appendf(nil, "%x\n", key), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
