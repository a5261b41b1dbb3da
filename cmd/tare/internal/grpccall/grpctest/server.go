// Package grpctest has a small gRPC server for tests, with all four kinds of methods and with reflection.
package grpctest

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Files returns the protocol buffer files of the server by import path.
func Files() map[string]string {
	return map[string]string{
		"shop.proto": `syntax = "proto3";
package shop.v1;
import "common/item.proto";
import "google/protobuf/timestamp.proto";
message Ask { string id = 1; int32 n = 2; google.protobuf.Timestamp at = 3; }
message Empty {}
service Shop {
  rpc Get(Ask) returns (common.Item);
  rpc List(Ask) returns (stream common.Item);
  rpc Put(stream common.Item) returns (common.Item);
  rpc Talk(stream Ask) returns (stream common.Item);
}
`,
		"common/item.proto": `syntax = "proto3";
package common;
message Item { string id = 1; int64 count = 2; }
`,
	}
}

// Server handles calls of shop.v1.Shop, and counts them.
type Server struct {
	Version string // of reflection: v1 or v1alpha; "" without reflection

	Calls    atomic.Int64 // without those of reflection
	Messages atomic.Int64 // received messages
	mu       sync.Mutex
	header   http.Header       // of the last call
	files    map[string][]byte // encoded descriptions of the files by import path
}

// Header returns the header of the last call.
func (s *Server) Header() http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header
}

// New returns a server. See [Server.Version] for version.
func New(version string) (*Server, error) {
	src := Files()
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(src)})}
	list, err := c.Compile(context.Background(), "shop.proto")
	if err != nil {
		return nil, err
	}
	s := &Server{Version: version, files: map[string][]byte{}}
	var add func(protoreflect.FileDescriptor) error
	add = func(f protoreflect.FileDescriptor) error {
		b, err := proto.Marshal(protodesc.ToFileDescriptorProto(f))
		s.files[f.Path()] = b
		for i := 0; i < f.Imports().Len() && err == nil; i++ {
			err = add(f.Imports().Get(i).FileDescriptor)
		}
		return err
	}
	return s, add(list[0])
}

// Status codes of gRPC.
const (
	statusNotFound      = 5
	statusUnimplemented = 12
	statusInternal      = 13
)

// ServeHTTP handles a call. The id of the first message can select an error. 404 is not found, odd gets an invalid
// message, and silent gets no trailers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	msgs, err := readMessages(r.Body)
	status := 0
	if err != nil {
		status = statusInternal
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	isReflection := s.Version != "" && strings.Contains(r.URL.Path, "/grpc.reflection."+s.Version+".")
	if !isReflection {
		s.mu.Lock()
		s.header = r.Header.Clone()
		s.mu.Unlock()
		s.Calls.Add(1)
		s.Messages.Add(int64(len(msgs)))
	}
	var out [][]byte
	switch method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; {
	case status != 0: // the request is not gRPC
	case isReflection:
		for _, m := range msgs {
			out = append(out, s.answerReflection(m))
		}
	case method == "Get" && len(msgs) == 1, method == "Put":
		out = [][]byte{encodeItem("x", len(msgs))}
	case method == "List" && len(msgs) == 1, method == "Talk":
		for i := range 3 * len(msgs) {
			out = append(out, encodeItem("x", i))
		}
	default:
		status = statusUnimplemented
	}
	if len(msgs) > 0 && !isReflection {
		withoutTag := msgs[0][min(1, len(msgs[0])):] // id is the first field, and its tag has one byte
		switch id, _ := protowire.ConsumeString(withoutTag); id {
		case "404":
			status, out = statusNotFound, nil
		case "odd":
			out = [][]byte{{0xff}}
		case "silent":
			return
		}
	}
	for _, m := range out {
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...))
	}
	w.Header().Set("Grpc-Status", strconv.Itoa(status))
}

func readMessages(r io.Reader) ([][]byte, error) {
	var list [][]byte
	for {
		prefix := make([]byte, 5)
		if _, err := io.ReadFull(r, prefix); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		m := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
		if _, err := io.ReadFull(r, m); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
}

func encodeItem(id string, count int) []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), id)
	return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(count))
}

// answerReflection returns the response to a ServerReflectionRequest: one file, or an error. The field numbers are
// from reflection.proto.
func (s *Server) answerReflection(request []byte) []byte {
	const bySymbol, errorMessage, errorResponse, fileDescriptor, fileResponse = 4, 2, 7, 1, 4
	n, _, size := protowire.ConsumeTag(request)
	text, _ := protowire.ConsumeString(request[size:])
	name := text
	if n == bySymbol && strings.HasPrefix(text, "shop.v1.Shop") {
		name = "shop.proto"
	}
	file, ok := s.files[name]
	if !ok {
		message := protowire.AppendString(protowire.AppendTag(nil, errorMessage, protowire.BytesType), "no "+text)
		return protowire.AppendBytes(protowire.AppendTag(nil, errorResponse, protowire.BytesType), message)
	}
	files := protowire.AppendBytes(protowire.AppendTag(nil, fileDescriptor, protowire.BytesType), file)
	return protowire.AppendBytes(protowire.AppendTag(nil, fileResponse, protowire.BytesType), files)
}
