// Package protoconnect is what protoc-gen-connect-go makes of the service in
// users.proto.
package protoconnect

//go:generate go run -C ../../../../tools/protogen . -plugins protoc-gen-connect-go -from ../../app/users/proto -package github.com/tarebench/tare/app/users/proto ../../contenders/rpc/connect
