package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/whole"
	"github.com/tarebench/tare/lab"
)

// maxFiles is the most that the files of one order may have, in bytes.
const maxFiles = 2 << 30

// File is something that an order needs, by its content. An agent that has it does
// not ask for it again.
type File struct {
	Name string `json:"name"` // a path below the order's directory, with slashes
	Hash string `json:"sha256"`
	Size int64  `json:"size"`
}

// sum is a SHA-256 in hexadecimal.
var sum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkFiles says what is wrong with the files of an order.
func checkFiles(files []File) error {
	var size int64
	seen := map[string]bool{}
	for _, f := range files {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f.Name)) || len(f.Name) > 1000:
			return fmt.Errorf("file %s is outside of the order's directory", format.Line(f.Name, 80))
		case seen[f.Name]:
			return fmt.Errorf("the order has two files %s", format.Line(f.Name, 80))
		case !sum.MatchString(f.Hash) || f.Size < 0:
			return fmt.Errorf("file %s has no hash or no size", format.Line(f.Name, 80))
		case f.Size > maxFiles-size:
			return fmt.Errorf("the files of the order have more than %d MiB", maxFiles>>20)
		}
		seen[f.Name] = true
		size += f.Size
	}
	return nil
}

// Content is what a file holds, at the coordinator.
type Content interface {
	io.ReaderAt
	Size() int64
}

// OpenFile opens a file for an order, under a name.
func OpenFile(name, path string) (File, Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, nil, err
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		f.Close()
		return File{}, nil, err
	}
	return named(name, h, size), &disk{f, size}, nil
}

// named is the file of a content.
func named(name string, h hash.Hash, size int64) File {
	return File{Name: name, Hash: hex.EncodeToString(h.Sum(nil)), Size: size}
}

// disk is a file as a content.
type disk struct {
	*os.File
	size int64
}

// Size is the size that the file had when it was read.
func (d *disk) Size() int64 { return d.size }

// fetching asks for a part of a file of an order.
type fetching struct {
	Order string `json:"order"`
	Hash  string `json:"sha256"`
	N     int    `json:"n"`
}

// fetched is the answer.
type fetched struct {
	Data    []byte `json:"data,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// contentPart is part n of a content.
func contentPart(c Content, n int) fetched {
	if n < 0 || int64(n) > c.Size()/maxPart { // divided: n times a part may overflow
		return fetched{Refused: "the file has no such part"}
	}
	at := int64(n) * maxPart
	data := make([]byte, min(maxPart, c.Size()-at))
	if _, err := c.ReadAt(data, at); err != nil && !errors.Is(err, io.EOF) {
		return fetched{Refused: "the file cannot be read: " + err.Error()}
	}
	return fetched{Data: data}
}

// fetch writes a file of an order to out, and refuses another content than the
// order names.
func (a *Agent) fetch(ctx context.Context, order string, f File, out io.Writer) error {
	h := sha256.New()
	both := io.MultiWriter(h, out)
	for n := 0; int64(n)*maxPart < f.Size; n++ {
		var got fetched
		one, stop := context.WithTimeout(ctx, a.times.forsaken)
		err := ask(one, a.nc, a.times, a.of.from(fromFile), fetching{order, f.Hash, n}, &got)
		stop()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("fetch %s: %w", format.Line(f.Name, 80), err)
		case got.Refused != "":
			return fmt.Errorf("fetch %s: the coordinator says: %s", format.Line(f.Name, 80), format.Line(got.Refused, 200))
		case int64(len(got.Data)) != min(maxPart, f.Size-int64(n)*maxPart):
			return fmt.Errorf("fetch %s: a part has another size", format.Line(f.Name, 80))
		}
		if _, err := both.Write(got.Data); err != nil {
			return err
		}
	}
	if named(f.Name, h, f.Size) != f {
		return fmt.Errorf("fetch %s: it has another content than the order names", format.Line(f.Name, 80))
	}
	return nil
}

// Task is what an order may ask its coordinator for while it is carried out.
type Task struct {
	Permit lab.Permit                                             // another round
	Fetch  func(ctx context.Context, f File, out io.Writer) error // a file
}

// serveFile answers an agent that asks for a part of a file.
func (h *Hub) serveFile(name string, m *nats.Msg) {
	h.heard(name)
	var q fetching
	if json.Unmarshal(m.Data, &q) != nil {
		reply(m, fetched{Refused: "the question is none"})
		return
	}
	if l := h.listener(q.Order); l.file != nil { // else it is asked again, until a run begins
		reply(m, l.file(name, q))
	}
}

// keptFor is how long a file that was sent stays in a cache after it was last used.
const keptFor = 14 * 24 * time.Hour

// Kept returns the path of a file in dir, which keeps what was sent by its content.
// What is not there, or was changed, is fetched.
func Kept(ctx context.Context, dir string, f File, fetch func(context.Context, File, io.Writer) error) (string, error) {
	if err := whole.MakeDir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory of what is sent: %w", err)
	}
	tree.Sweep(dir, keptFor)
	path := filepath.Join(dir, f.Hash)
	if is, content, err := OpenFile(f.Name, path); err == nil {
		_ = content.(*disk).Close()
		if is == f {
			now := time.Now()
			return path, os.Chtimes(path, now, now)
		}
	}
	tmp, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return "", fmt.Errorf("keep what is sent: %w", err)
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := fetch(ctx, f, tmp); err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", fmt.Errorf("keep what is sent: %w", err)
	}
	return path, os.Rename(tmp.Name(), path)
}
