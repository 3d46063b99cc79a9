// Oracle prints what the Go library kstatus says about objects.
//
// Each line of the input is one object in JSON; each line of the output is the answer:
// {"status": …, "reason": …, "message": …}, or {"error": …} where the library has no answer.
// Whole numbers are decoded as int64 and times stay as they stand, as client-go does it.
package main

import (
	"bufio"
	stdjson "encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type answer struct {
	Status  string `json:"status,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func judge(line []byte) (said answer) {
	// The library asserts types without looking: a panic is an answer, too.
	defer func() {
		if problem := recover(); problem != nil {
			said = answer{Error: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	object := map[string]any{}
	if err := json.Unmarshal(line, &object); err != nil {
		return answer{Error: "decode: " + err.Error()}
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return answer{Error: err.Error()}
	}
	said = answer{Status: string(result.Status), Message: result.Message}
	for _, condition := range result.Conditions {
		said.Reason = condition.Reason
	}
	return said
}

func run(in io.Reader, out io.Writer) error {
	reader := bufio.NewReaderSize(in, 1<<16)
	writer := bufio.NewWriter(out)
	encoder := stdjson.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 1 {
			if err := encoder.Encode(judge(line)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return writer.Flush()
		}
		if err != nil {
			return err
		}
		// The other end may wait for this answer before it asks on.
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				return err
			}
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}
