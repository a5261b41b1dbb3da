// Package proto contains the Go code that protoc-gen-go generates for the messages of users.proto, and
// converts the messages to the types of package users and back. The annotations for HTTP, which only
// gRPC-Gateway needs, are omitted, so that the package depends only on the module protobuf. The
// generated code for services is in the contenders that use it.
package proto

//go:generate go run -C ../../../tools/protogen . -drop google/api/annotations.proto -package github.com/tarebench/tare/apps/users/proto ../../apps/users/proto
