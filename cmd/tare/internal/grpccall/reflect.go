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

// Server is a server with gRPC reflection. It returns its own protocol buffer files.
type Server struct {
	Addr    string        // address to dial
	Host    string        // authority of requests
	TLS     *tls.Config   // nil means no TLS
	Header  [][2]string   // additional metadata of calls, as name and value
	Timeout time.Duration // of all calls together
}

// Bounds of a server's description.
const (
	maxFiles       = 1000
	maxReplies     = 64 << 20  // bytes of all replies
	maxFilesMemory = 512 << 20 // bytes of memory of all files: a million fields
)

// Numbers of fields in the messages of grpc.reflection.v1 (reflection.proto).
const (
	requestByFile        = 3 // ServerReflectionRequest.file_by_filename
	requestBySymbol      = 4 // ServerReflectionRequest.file_containing_symbol
	responseFiles        = 4 // ServerReflectionResponse.file_descriptor_response
	responseError        = 7 // ServerReflectionResponse.error_response
	responseErrorMessage = 2 // ErrorResponse.error_message
)

// statusUnimplemented is the gRPC status of an unknown method.
const statusUnimplemented = "12"

// Reflect finds the method of a path by reflection. It requests the file with the service, and then the imported
// files.
func Reflect(ctx context.Context, s Server, path string) (*Method, error) {
	service, method, err := Split(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	t := s.newTransport()
	defer t.CloseIdleConnections()
	c := reflectionClient{s: s, client: &http.Client{Transport: t}, version: "v1", bytesLeft: maxReplies, memory: maxFilesMemory}
	found, err := c.requestFiles(ctx, requestBySymbol, service)
	if errors.Is(err, errUnknown) {
		c.version = "v1alpha"
		found, err = c.requestFiles(ctx, requestBySymbol, service)
	}
	if errors.Is(err, errUnknown) {
		return nil, errors.New("the server does not answer questions about itself (server reflection)")
	}
	if err != nil {
		return nil, err
	}
	all, err := c.addImports(ctx, found)
	if err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: all})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		d, err := files.FindFileByPath(f.GetName())
		if err != nil {
			return nil, err
		}
		name := protoreflect.FullName(service)
		if d.Package() == name.Parent() && d.Services().ByName(name.Name()) != nil {
			return findMethod(d.Services(), service, method, "the server")
		}
	}
	return nil, fmt.Errorf("the server has no service %q", service)
}

// addImports returns files with their direct and indirect imports, which it requests from the server.
func (c *reflectionClient) addImports(ctx context.Context, files []*descriptorpb.FileDescriptorProto) ([]*descriptorpb.FileDescriptorProto, error) {
	isKnown := map[string]bool{}
	for _, f := range files {
		isKnown[f.GetName()] = true
	}
	for i := 0; i < len(files); i++ { // files grows
		for _, name := range files[i].Dependency {
			if isKnown[name] {
				continue
			}
			more, err := c.requestFiles(ctx, requestByFile, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			for _, f := range more {
				if !isKnown[f.GetName()] {
					isKnown[f.GetName()] = true
					files = append(files, f)
				}
			}
			if len(files) > maxFiles {
				return nil, errManyFiles
			}
			if !isKnown[name] {
				return nil, fmt.Errorf("%s: the server sent another file", name)
			}
		}
	}
	return files, nil
}

// newTransport returns an HTTP/2 transport that dials s.Addr for every URL.
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

type reflectionClient struct {
	s         Server
	client    *http.Client
	version   string       // v1 or v1alpha
	bytesLeft int          // bytes that the server may still send
	memory    memoryBudget // of all descriptions together
}

var errManyFiles = fmt.Errorf("more than %d files", maxFiles)

// errUnknown means that the server has no reflection service of this version.
var errUnknown = errors.New("unimplemented")

// requestFiles sends a request with one field. The field has a file name or a symbol.
func (c *reflectionClient) requestFiles(ctx context.Context, field protowire.Number, text string) ([]*descriptorpb.FileDescriptorProto, error) {
	msg := protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), text)
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...)
	scheme := "http://"
	if c.s.TLS != nil {
		scheme = "https://"
	}
	url := scheme + c.s.Host + "/grpc.reflection." + c.version + ".ServerReflection/ServerReflectionInfo"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range c.s.Header {
		request.Header.Add(h[0], h[1])
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	src, err := io.ReadAll(io.LimitReader(response.Body, int64(c.bytesLeft)+1))
	if err != nil {
		return nil, err
	}
	c.bytesLeft -= len(src)
	status, message := response.Trailer.Get("Grpc-Status"), response.Trailer.Get("Grpc-Message")
	if status == "" { // a response without messages has them in its header
		status, message = response.Header.Get("Grpc-Status"), response.Header.Get("Grpc-Message")
	}
	isMessage := len(src) >= prefixLen && src[0] == 0 && uint64(binary.BigEndian.Uint32(src[1:])) == uint64(len(src)-prefixLen)
	switch {
	case c.bytesLeft < 0:
		return nil, fmt.Errorf("answers of more than %d bytes", maxReplies)
	case status == statusUnimplemented || response.StatusCode == http.StatusNotFound:
		return nil, errUnknown
	case response.StatusCode != http.StatusOK || status == "":
		return nil, fmt.Errorf("no answer of gRPC: %s", response.Status)
	case status != "0":
		return nil, fmt.Errorf("grpc-status %s: %s", status, message)
	case !isMessage:
		return nil, errors.New("not one message")
	}
	return c.parseResponse(src[prefixLen:])
}

// parseResponse parses a ServerReflectionResponse. A response without files is an error.
func (c *reflectionClient) parseResponse(b []byte) ([]*descriptorpb.FileDescriptorProto, error) {
	var list []*descriptorpb.FileDescriptorProto
	err := forEachField(b, func(n protowire.Number, _ protowire.Type, v []byte) error {
		switch n {
		case responseFiles:
			return forEachField(v, func(n protowire.Number, _ protowire.Type, v []byte) error {
				if len(list) == maxFiles {
					return errManyFiles
				}
				f := new(descriptorpb.FileDescriptorProto)
				switch err := c.memory.useMessage(v, f.ProtoReflect().Descriptor(), 0); {
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
					return errors.New("the server reports: " + string(v))
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
