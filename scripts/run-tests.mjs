// Runs test files, each in a process of its own, two at once; writes TAP. The program `tap` does the same with loaders for
// coverage, mocks and TypeScript in each process, which nobody uses here: a second of processor time for every file.
import t from 'tap'

/** So many files of the access matrix share a process: they need no more than the application, which takes 2 s to start. */
const TOGETHER = 6

t.jobs = 2
t.setTimeout(0)
for (const files of groupsOf(process.argv.slice(2))) {
  const program = files.length === 1 ? files : ['dist/test/helpers/together.js', ...files]
  // tap adds one of the loaders to NODE_OPTIONS.
  t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', ...program], {
    name: files.join(' '),
    buffered: true
  })
}

function groupsOf(files) {
  const isMatrix = file => file.endsWith('/access.test.js')
  const matrices = files.filter(isMatrix)
  const count = Math.ceil(matrices.length / TOGETHER)
  // Neighbours are about as long: they go to different groups.
  const groups = Array.from({ length: count }, (_, at) => matrices.filter((_, place) => place % count === at))
  // They take a minute each, so they begin first.
  return [...groups, ...files.filter(file => !isMatrix(file)).map(file => [file])]
}
