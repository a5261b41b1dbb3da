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
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/lab"
)

// An order may need files. The coordinator, which gives orders, sends them to an agent on another machine.

// maxFiles limits the files of an order, in bytes.
const maxFiles = 2 << 30

// File is a file of an order. An agent fetches it in parts and caches it by its hash.
type File struct {
	Name string `json:"name"` // slash path below the order's directory
	Hash string `json:"sha256"`
	Size int64  `json:"size"`
}

var hexSHA256 = lazyregexp.New(`^[0-9a-f]{64}$`)

func checkFiles(files []File) error {
	var size int64
	seen := map[string]bool{}
	for _, f := range files {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f.Name)) || len(f.Name) > 1000:
			return fmt.Errorf("file %s is outside of the order's directory", format.Line(f.Name, 80))
		case seen[f.Name]:
			return fmt.Errorf("the order has two files %s", format.Line(f.Name, 80))
		case !hexSHA256.MatchString(f.Hash) || f.Size < 0:
			return fmt.Errorf("file %s has no hash or no size", format.Line(f.Name, 80))
		case f.Size > maxFiles-size:
			return fmt.Errorf("the files of the order have more than %d MiB", maxFiles>>20)
		}
		seen[f.Name] = true
		size += f.Size
	}
	return nil
}

// Content is the content of a file, as the coordinator reads it.
type Content interface {
	io.ReaderAt
	Size() int64
}

// OpenFile opens and hashes the file at path, which an order calls name.
func OpenFile(name, path string) (File, Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, nil, err
	}
	digest := sha256.New()
	size, err := io.Copy(digest, f)
	if err != nil {
		f.Close()
		return File{}, nil, err
	}
	return newFile(name, digest, size), &diskFile{f, size}, nil
}

func newFile(name string, digest hash.Hash, size int64) File {
	return File{Name: name, Hash: hex.EncodeToString(digest.Sum(nil)), Size: size}
}

type diskFile struct {
	*os.File
	size int64
}

// Size returns the bytes that were hashed.
func (d *diskFile) Size() int64 { return d.size }

type fileRequest struct {
	Order string `json:"order"`
	Hash  string `json:"sha256"`
	N     int    `json:"n"`
}

type fileReply struct {
	Data    []byte `json:"data,omitempty"`
	Refused string `json:"refused,omitempty"`
}

func contentPart(c Content, n int) fileReply {
	if n < 0 || int64(n) > c.Size()/maxPart { // n*maxPart may overflow
		return fileReply{Refused: "the file has no such part"}
	}
	offset := int64(n) * maxPart
	data := make([]byte, min(maxPart, c.Size()-offset))
	if _, err := c.ReadAt(data, offset); err != nil && !errors.Is(err, io.EOF) {
		return fileReply{Refused: "the file cannot be read: " + err.Error()}
	}
	return fileReply{Data: data}
}

// fetchFile writes a file of an order to out. It fails if the content has another hash.
func (a *Agent) fetchFile(ctx context.Context, order string, f File, out io.Writer) error {
	digest := sha256.New()
	hashedOut := io.MultiWriter(digest, out)
	for n := 0; int64(n)*maxPart < f.Size; n++ {
		var reply fileReply
		requestCtx, stop := context.WithTimeout(ctx, a.times.abandonAfter)
		err := request(requestCtx, a.nc, a.times, a.subjects.fromAgent(fromFile), fileRequest{order, f.Hash, n}, &reply)
		stop()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("fetch %s: %w", format.Line(f.Name, 80), err)
		case reply.Refused != "":
			return fmt.Errorf("fetch %s: the coordinator reports: %s", format.Line(f.Name, 80), format.Line(reply.Refused, 200))
		case int64(len(reply.Data)) != min(maxPart, f.Size-int64(n)*maxPart):
			return fmt.Errorf("fetch %s: a part has another size", format.Line(f.Name, 80))
		}
		if _, err := hashedOut.Write(reply.Data); err != nil {
			return err
		}
	}
	if newFile(f.Name, digest, f.Size) != f {
		return fmt.Errorf("fetch %s: it has another content than the order names", format.Line(f.Name, 80))
	}
	return nil
}

// Task contains the requests that a running order may send to the coordinator.
type Task struct {
	Permit lab.Permit                                             // requests another round of the study
	Fetch  func(ctx context.Context, f File, out io.Writer) error // writes a file of the order
}

func (h *Hub) serveFile(name string, m *nats.Msg) {
	h.markSeen(name)
	var req fileRequest
	if json.Unmarshal(m.Data, &req) != nil {
		sendReply(m, fileReply{Refused: "not a valid question"})
		return
	}
	if l := h.findListener(req.Order); l.file != nil { // otherwise the agent retries
		sendReply(m, l.file(name, req))
	}
}

const cacheLifetime = 14 * 24 * time.Hour

// CachedFile returns the path of f in the cache dir. fetch writes a file that is missing or modified. Files
// unused for cacheLifetime are removed.
func CachedFile(ctx context.Context, dir string, f File, fetch func(context.Context, File, io.Writer) error) (string, error) {
	if err := atomicfile.MakeDir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory of what is sent: %w", err)
	}
	gitrev.Sweep(dir, cacheLifetime)
	path := filepath.Join(dir, f.Hash)
	if cached, content, err := OpenFile(f.Name, path); err == nil {
		_ = content.(*diskFile).Close()
		if cached == f {
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
