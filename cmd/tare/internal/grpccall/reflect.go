package grpccall

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Server is a server with gRPC reflection.
type Server struct {
	Addr    string      // address to dial
	Host    string      // authority of requests
	TLS     *tls.Config // nil means no TLS
	Header  [][2]string
	Timeout time.Duration
}

// Bounds of a server's description.
const (
	maxFiles       = 1000
	maxReplies     = 64 << 20  // bytes of all replies
	maxFilesMemory = 512 << 20 // bytes of memory of all files: a million fields
)

// Fields of grpc.reflection.v1, reflection.proto.
const (
	requestByFile        = 3
	requestBySymbol      = 4
	responseFiles        = 4
	responseError        = 7
	responseErrorMessage = 2
)

// Reflect finds the method of a path by reflection of the server.
func Reflect(ctx context.Context, s Server, path string) (*Method, error) {
	service, method, err := Split(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	t := s.newTransport()
	defer t.CloseIdleConnections()
	a := reflectionClient{s: s, client: &http.Client{Transport: t}, version: "v1", bytesLeft: maxReplies, memory: maxFilesMemory}
	found, err := a.requestFiles(ctx, requestBySymbol, service)
	if errors.Is(err, errUnknown) {
		a.version = "v1alpha"
		found, err = a.requestFiles(ctx, requestBySymbol, service)
	}
	if errors.Is(err, errUnknown) {
		return nil, errors.New("the server does not answer questions about itself (server reflection)")
	}
	if err != nil {
		return nil, err
	}
	set, have := found, map[string]bool{}
	for _, f := range found {
		have[f.GetName()] = true
	}
	for i := 0; i < len(set); i++ {
		for _, need := range set[i].Dependency {
			if have[need] {
				continue
			}
			more, err := a.requestFiles(ctx, requestByFile, need)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", need, err)
			}
			for _, f := range more {
				if !have[f.GetName()] {
					have[f.GetName()] = true
					set = append(set, f)
				}
			}
			if len(set) > maxFiles {
				return nil, errManyFiles
			}
			if !have[need] {
				return nil, fmt.Errorf("%s: the server sent another file", need)
			}
		}
	}
	files, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: set})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		d, err := files.FindFileByPath(f.GetName())
		if err != nil {
			return nil, err
		}
		if name := protoreflect.FullName(service); d.Services().ByName(name.Name()) != nil && d.Package() == name.Parent() {
			return findMethod(d.Services(), service, method, "the server")
		}
	}
	return nil, fmt.Errorf("the server has no service %q", service)
}

func (s Server) newTransport() *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Addr)
	}}
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	if s.TLS != nil {
		t.TLSClientConfig = s.TLS.Clone()
	}
	return t
}

// reflectionClient calls one version of the reflection service.
type reflectionClient struct {
	s         Server
	client    *http.Client
	version   string
	bytesLeft int // bytes that the server may still send
	memory    memoryBudget
}

// errManyFiles is returned if a server describes more than maxFiles files.
var errManyFiles = fmt.Errorf("more than %d files", maxFiles)

// errUnknown is returned if the server does not have the service.
var errUnknown = errors.New("unimplemented")

// requestFiles sends one request, and returns the files of the response.
func (a *reflectionClient) requestFiles(ctx context.Context, field protowire.Number, text string) ([]*descriptorpb.FileDescriptorProto, error) {
	msg := protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), text)
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...)
	scheme := "http://"
	if a.s.TLS != nil {
		scheme = "https://"
	}
	url := scheme + a.s.Host + "/grpc.reflection." + a.version + ".ServerReflection/ServerReflectionInfo"
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range a.s.Header {
		q.Header.Add(h[0], h[1])
	}
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("Te", "trailers")
	r, err := a.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	src, err := io.ReadAll(io.LimitReader(r.Body, int64(a.bytesLeft)+1))
	if err != nil {
		return nil, err
	}
	a.bytesLeft -= len(src)
	status, why := r.Trailer.Get("Grpc-Status"), r.Trailer.Get("Grpc-Message")
	if status == "" {
		status, why = r.Header.Get("Grpc-Status"), r.Header.Get("Grpc-Message")
	}
	switch {
	case a.bytesLeft < 0:
		return nil, fmt.Errorf("answers of more than %d bytes", maxReplies)
	case status == "12" || r.StatusCode == http.StatusNotFound:
		return nil, errUnknown
	case r.StatusCode != http.StatusOK || status == "":
		return nil, fmt.Errorf("no answer of gRPC: %s", r.Status)
	case status != "0":
		return nil, fmt.Errorf("grpc-status %s: %s", status, why)
	case len(src) < prefixLen || src[0] != 0 || uint64(binary.BigEndian.Uint32(src[1:])) != uint64(len(src)-prefixLen):
		return nil, errors.New("not one message")
	}
	return a.parseResponse(src[prefixLen:])
}

// parseResponse parses a ServerReflectionResponse.
func (a *reflectionClient) parseResponse(b []byte) ([]*descriptorpb.FileDescriptorProto, error) {
	var list []*descriptorpb.FileDescriptorProto
	err := forEachField(b, func(n protowire.Number, _ protowire.Type, v []byte) error {
		switch n {
		case responseFiles:
			return forEachField(v, func(n protowire.Number, _ protowire.Type, v []byte) error {
				if len(list) == maxFiles {
					return errManyFiles
				}
				f := new(descriptorpb.FileDescriptorProto)
				switch err := a.memory.useMessage(v, f.ProtoReflect().Descriptor(), 0); {
				case errors.Is(err, errMemory):
					return fmt.Errorf("descriptions of files that take more than %d bytes of memory", maxFilesMemory)
				case err != nil:
					return err
				}
				if err := proto.Unmarshal(v, f); err != nil {
					return err
				}
				list = append(list, f)
				return nil
			})
		case responseError:
			return forEachField(v, func(n protowire.Number, _ protowire.Type, v []byte) error {
				if n == responseErrorMessage {
					return errors.New("the server says: " + string(v))
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = errors.New("the server sent no files")
	}
	return list, err
}
