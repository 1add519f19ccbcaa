"""Compiles a wrong program and checks the compiler's message. Usage: mistake.py FILE COMPILER OPTION...

Lines `// prints: TEXT` at the head of FILE: the first error must contain every TEXT. Lines `// shows: TEXT`: the output must
contain it. All of the compiler's output must fit on a screen, because people read only the first one. A file without
`prints` must compile.
"""

import pathlib
import re
import subprocess
import sys

MAXIMUM_LINES = 25

file, *compiler = sys.argv[1:]
source = pathlib.Path(file).read_text()
sentences = re.findall(r"^// prints: (.*)$", source, re.MULTILINE)
shown = re.findall(r"^// shows: (.*)$", source, re.MULTILINE)
result = subprocess.run([*compiler, "-fno-diagnostics-show-caret", file], capture_output=True, text=True,
                        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
output = result.stderr.splitlines()
first = next((line for line in output if "error:" in line), "")

complaints = []
if not sentences and result.returncode != 0:
    complaints.append("it must compile")
if sentences and result.returncode == 0:
    complaints.append("it must not compile")
complaints += [f"the first error does not say: {sentence}" for sentence in sentences if sentence not in first]
complaints += [f"the errors do not show: {text}" for text in shown if text not in result.stderr]
if len(output) > MAXIMUM_LINES:
    complaints.append(f"{len(output)} lines of errors, {MAXIMUM_LINES} at most")

print(result.stderr)
for complaint in complaints:
    print(f"{file}: {complaint}")
sys.exit(1 if complaints else 0)
