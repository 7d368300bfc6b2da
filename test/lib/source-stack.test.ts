import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { root } from '../../src/config.js'
import { sourceStack } from '../../src/lib/source-stack.js'
import t from '../helpers/tap.js'

t.test('frames of built files refer to their source', async t => {
  const built = pathToFileURL(`${root}/dist/src/lib/nearest.js`).href
  t.match(
    sourceStack(`Error: no\n    at nearest (${built}:1:1)`),
    /^Error: no\n {4}at nearest \(\/.+\/src\/lib\/nearest\.ts:\d+:\d+\)$/
  )
  t.notMatch(sourceStack(`${built}:1:1`), 'dist')
})

t.test('a package has compressed maps', async t => {
  const file = join(t.testdir(), 'nearest.js')
  writeFileSync(`${file}.map.gz`, gzipSync(readFileSync(`${root}/dist/src/lib/nearest.js.map`)))
  t.match(
    sourceStack(`at nearest (${pathToFileURL(file).href}:1:1)`),
    /^at nearest \(\/.+\/src\/lib\/nearest\.ts:\d+:\d+\)$/
  )
})

t.test('other lines stay unchanged', async t => {
  for (const line of [
    'at file:///no/such/file.js:1:2',
    'at node:fs:1:2',
    'at file:///%zz.js:1:2',
    'at file:///dev/null.js:0:0'
  ])
    t.equal(sourceStack(line), line)
})
