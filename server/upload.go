package server

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
)

// upload is what a form or a program sends.
type upload struct {
	// name is that of the file, "" if there is none.
	name string
	body io.Reader
}

// errNothing says that a form was sent without anything in it.
var errNothing = errors.New("nothing was sent: choose a file, or paste a text")

// readUpload gives the first part of the form that is not empty, or the whole body
// of a request that is no form with parts. Nothing is written to a disk.
func readUpload(r *http.Request) (upload, error) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "multipart/form-data" {
		return notEmpty("", r.Body)
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return upload{}, badRequest("the form cannot be read: %v", err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return upload{}, errNothing
		}
		if err != nil {
			return upload{}, badRequest("the form cannot be read: %v", err)
		}
		u, err := notEmpty(part.FileName(), part)
		if !errors.Is(err, errNothing) {
			return u, err
		}
	}
}

// notEmpty looks whether there is a first byte.
func notEmpty(name string, r io.Reader) (upload, error) {
	var first [1]byte
	switch _, err := io.ReadFull(r, first[:]); {
	case errors.Is(err, io.EOF):
		return upload{}, errNothing
	case err != nil:
		return upload{}, badRequest("what is sent cannot be read: %v", err)
	}
	return upload{name: name, body: io.MultiReader(bytes.NewReader(first[:]), r)}, nil
}
