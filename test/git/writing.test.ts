import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findEntry } from '../../src/git/objects/tree.js'
import { isRefName, refValue, updateRef, ZERO } from '../../src/git/refs/refs.js'
import { needsBitmap, repackRepository } from '../../src/git/repository/maintenance.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import { createRepository, removeRepository, setHead } from '../../src/git/repository/repository.js'
import { repositorySize } from '../../src/git/repository/size.js'
import { type FileChange, type NewCommit, prepareCommit, prepareTag } from '../../src/git/write/write.js'
import t from '../helpers/tap.js'
import { git, repositoryWith, stream } from './history.js'

t.teardown(() => closeGitProcesses())

const ann = { name: 'Ann', email: 'ann@example.com', date: new Date(1_700_000_000_000) }
const file = (path: string, content = path): FileChange => ({ action: 'create', path, content: Buffer.from(content) })

async function commit(repository: string, parent: string | null, changes: FileChange[], message = 'a change') {
  return await write(repository, { parent, changes, message, author: ann, committer: ann })
}

async function write(repository: string, made: NewCommit) {
  const prepared = await prepareCommit(repository, made)
  await prepared.write()
  return prepared
}

const isClean = (repository: string) =>
  git(repository, ['fsck', '--strict', '--full', '--no-dangling', '--no-progress']) === ''

t.test('accepts only valid ref names', async t => {
  const good = [
    'refs/heads/master',
    'refs/heads/a/b',
    'refs/tags/v1.0',
    'refs/heads/ä',
    "refs/heads/it's",
    'refs/heads/a-b',
    'refs/heads/a@b',
    'refs/heads/a.b',
    'refs/heads/lock'
  ]
  const bad = [
    'master',
    'refs/heads/',
    'refs/heads',
    'refs/heads/-x',
    'refs/heads/a..b',
    'refs/heads/.a',
    'refs/heads/a/.b',
    'refs/heads/a.lock',
    'refs/heads/a.lock/b',
    'refs/heads/a.',
    'refs/heads/a b',
    'refs/heads/a~',
    'refs/heads/a^',
    'refs/heads/a:b',
    'refs/heads/a?',
    'refs/heads/a*',
    'refs/heads/[a',
    'refs/heads/a\\b',
    'refs/heads/a@{1',
    'refs/heads//a',
    'refs/heads/a\n',
    'refs/heads/a\x7f',
    'refs/heads/\ufffd',
    `refs/heads/${'x'.repeat(250)}`,
    'refs/heads/refs/heads/a',
    'refs/refs/heads/a',
    '/refs/heads/a'
  ]
  for (const name of good) {
    t.ok(isRefName(name), name)
    git('/', ['check-ref-format', name])
  }
  for (const name of bad) t.notOk(isRefName(name), JSON.stringify(name))
})

t.test('a repository is created once, has a head and a size, and can be removed', async t => {
  const path = join(t.testdir(), 'deep/down/one.git')
  await Promise.all([createRepository(path), createRepository(path), createRepository(path)])
  await createRepository(path)
  t.same(readdirSync(join(path, '..')), ['one.git'], 'no temporary folder is left')
  t.equal(git(path, ['symbolic-ref', 'HEAD']), 'refs/heads/master')
  t.equal(git(path, ['config', 'receive.fsckObjects']), 'true')
  t.equal(git(path, ['config', '--get-all', 'transfer.hideRefs']).split('\n')[0], 'refs/internal/')
  await setHead(path, 'main')
  t.equal(git(path, ['symbolic-ref', 'HEAD']), 'refs/heads/main')
  await t.rejects(setHead(path, '-x'), TypeError)
  const { id } = await commit(path, null, [file('a', 'x'.repeat(10_000))])
  git(path, ['update-ref', 'refs/heads/main', id])
  const sizeOf = (name: string) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(git(path, ['count-objects', '-v']))?.[1])
  t.ok(sizeOf('size') > 0)
  t.equal(await repositorySize(path), sizeOf('size') * 1024, 'loose objects')
  git(path, ['repack', '-a', '-q'])
  t.ok(sizeOf('size-pack') > 0)
  t.equal(await repositorySize(path), (sizeOf('size') + sizeOf('size-pack')) * 1024, 'loose objects and a pack')
  await removeRepository(path)
  await removeRepository(path)
  t.same(readdirSync(join(path, '..')), [])
  await t.rejects(refValue(path, 'refs/heads/main'), { name: 'GitFailure' })
})

t.test('git reads back the commits that were written', async t => {
  const repository = await repositoryWith(t)
  const first = await commit(
    repository,
    null,
    [file('README', 'hello\n'), file('a/b/c.txt'), file('a.txt'), file('a-b'), file('ä ö/"q"')],
    'first ☃\n'
  )
  await updateRef(repository, [{ ref: 'refs/heads/master', old: ZERO, new: first.id }])
  t.equal(git(repository, ['show', 'master:README']), 'hello')
  t.equal(
    git(repository, ['log', '-1', '--format=%an <%ae> %at %B', 'master']),
    'Ann <ann@example.com> 1700000000 first ☃'
  )
  const second = await commit(repository, first.id, [
    { action: 'update', path: 'README', content: Buffer.from('changed') },
    { action: 'delete', path: 'a/b/c.txt' },
    { ...file('bin/run'), mode: '100755' },
    { ...file('link', 'bin/run'), mode: '120000' },
    file('empty', '')
  ])
  await updateRef(repository, [{ ref: 'refs/heads/master', old: first.id, new: second.id }])
  t.equal(git(repository, ['rev-parse', 'master^{tree}']), second.treeId)
  t.same(
    git(repository, ['-c', 'core.quotePath=false', 'ls-tree', '-r', '--format=%(objectmode) %(path)', 'master']).split(
      '\n'
    ),
    [
      '100644 README',
      '100644 a-b',
      '100644 a.txt',
      '100755 bin/run',
      '100644 empty',
      '120000 link',
      '100644 "ä ö/\\"q\\""'
    ]
  )
  t.equal(await findEntry(repository, second.id, 'a'), null, 'an empty folder vanishes')
  const third = await commit(repository, second.id, [
    { action: 'update', path: 'bin/run', content: Buffer.from('new') }
  ])
  t.match(await findEntry(repository, third.id, 'bin/run'), { mode: '100755' })
  const { id: tag, write } = prepareTag(repository, {
    name: 'v1',
    target: second.id,
    targetType: 'commit',
    message: 'one\n',
    tagger: ann
  })
  await write()
  await updateRef(repository, [{ ref: 'refs/tags/v1', old: ZERO, new: tag }])
  t.equal(git(repository, ['cat-file', '-t', 'v1']), 'tag')
  t.ok(isClean(repository))
})

t.test('content that git must not read is refused or cleaned', async t => {
  const repository = await repositoryWith(t)
  const { id } = await commit(repository, null, [file('a/b'), file('c')])
  const wrong: [FileChange[], string][] = [
    [[file('c')], 'PathExists'],
    [[file('a')], 'PathExists'],
    [[file('c/d')], 'PathBlocked'],
    [[file('x'), file('x/y')], 'PathBlocked'],
    [[{ action: 'update', path: 'no', content: Buffer.from('') }], 'PathMissing'],
    [[{ action: 'update', path: 'a', content: Buffer.from('') }], 'PathMissing'],
    [[{ action: 'delete', path: 'a' }], 'PathMissing'],
    [[{ action: 'delete', path: 'c/d' }], 'PathMissing'],
    [[{ action: 'update', path: 'c', content: Buffer.from('c') }], 'NothingChanged'],
    [[file('x'), { action: 'delete', path: 'x' }], 'NothingChanged'],
    [[], 'NothingChanged'],
    [[file('.git/config')], 'InvalidPath'],
    [[file('a/../c')], 'InvalidPath'],
    [[{ ...file('.gitmodules', 'x'), mode: '120000' }], 'RefusedContent'],
    [[file('.gitmodules', '[submodule "x"]\n\turl = -u./payload\n')], 'RefusedContent'],
    [[file('.gitmodules', '[submodule "../x"]\n\turl = https://example.com/\n')], 'RefusedContent'],
    [[file('.gitattributes', 'x'.repeat(3000))], 'RefusedContent']
  ]
  for (const [changes, name] of wrong)
    await t.rejects(commit(repository, id, changes), { name }, `${name} ${changes[0]?.path}`)
  await t.rejects(commit(repository, null, []), { name: 'NothingChanged' })
  await t.rejects(commit(repository, 'f'.repeat(40), [file('x')]), { name: 'DamagedRepository' })
  const evil = { name: ' Eve <x>\nparent 1\0 ', email: 'e@x>\n', date: new Date(Number.NaN) }
  const change = {
    parent: id,
    changes: [file('z'), file('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = https://example.com/x\n')],
    message: 'a\0b'
  }
  const cleaned = await write(repository, { ...change, author: evil, committer: { ...evil, name: '<>' } })
  await updateRef(repository, [{ ref: 'refs/heads/master', old: ZERO, new: cleaned.id }])
  t.equal(git(repository, ['log', '-1', '--format=%an|%ae|%at|%cn|%B', 'master']), 'Eve xparent 1|e@x|0|e@x|ab')
  t.ok(isClean(repository))
})

t.test('names that are not UTF-8, submodules and links survive changes of other entries', async t => {
  const repository = await repositoryWith(t, 60)
  const head = git(repository, ['rev-parse', 'master'])
  const { id } = await commit(repository, head, [file('lib/new.txt'), { action: 'delete', path: 'empty' }])
  const list = (of: string) =>
    execFileSync('git', ['ls-tree', '-r', '-z', of], { cwd: repository, encoding: 'latin1' }).split('\0')
  const kept = list(head).filter(line => !line.endsWith('\tempty'))
  t.same(
    list(id).filter(line => !line.endsWith('\tlib/new.txt')),
    kept
  )
})

t.test('a ref changes only from its exact value, and several refs change together', async t => {
  const repository = await repositoryWith(t, 20)
  const [one = '', two = ''] = git(repository, ['rev-list', 'master']).split('\n')
  const a = 'refs/heads/a'
  await updateRef(repository, [{ ref: a, old: ZERO, new: one }])
  await t.rejects(updateRef(repository, [{ ref: a, old: ZERO, new: two }]), { name: 'RefMoved', ref: a })
  await t.rejects(updateRef(repository, [{ ref: a, old: two, new: one }]), { name: 'RefMoved' })
  const b = { ref: 'refs/heads/b', old: ZERO, new: two }
  await t.rejects(updateRef(repository, [b, { ref: a, old: two, new: two }]), { name: 'RefMoved', ref: a })
  t.equal(await refValue(repository, 'refs/heads/b'), null, 'no ref moved')
  await t.rejects(updateRef(repository, [{ ref: `${a}/below`, old: ZERO, new: one }]), { name: 'RefBlocked' })
  await t.rejects(updateRef(repository, [{ ref: 'refs/heads/c', old: ZERO, new: 'f'.repeat(40) }]), {
    name: 'RefWithoutObject'
  })
  await t.rejects(updateRef(repository, [{ ref: 'refs/heads/a b', old: ZERO, new: one }]), TypeError)
  await updateRef(repository, [b, { ref: a, old: one, new: ZERO }])
  t.equal(await refValue(repository, a), null)
  await t.rejects(updateRef(repository, [{ ref: a, old: one, new: ZERO }]), { name: 'RefMoved' })
  await updateRef(repository, [{ ref: a, old: ZERO, new: ZERO }])
})

t.test('twenty writers of one branch: one wins each round, nothing is lost', async t => {
  const repository = await repositoryWith(t)
  const ref = 'refs/heads/master'
  let head: string | null = null
  for (let round = 0; round < 4; round++) {
    const parent: string | null = head
    const tries = Array.from({ length: 20 }, async (_, writer) => {
      const { id } = await commit(repository, parent, [file(`${round}/${writer}`)])
      await updateRef(repository, [{ ref, old: parent ?? ZERO, new: id }])
      return id
    })
    const outcomes = await Promise.allSettled(tries)
    const won = outcomes.filter(outcome => outcome.status === 'fulfilled').map(outcome => outcome.value)
    t.equal(won.length, 1)
    for (const outcome of outcomes) if (outcome.status === 'rejected') t.match(outcome.reason, { name: 'RefMoved' })
    head = await refValue(repository, ref)
    t.equal(head, won[0])
  }
  t.equal(git(repository, ['rev-list', '--count', 'master']), '4')
  t.ok(isClean(repository))
})

t.test('a large push is repacked with a bitmap, small ones are not', async t => {
  const path = await repositoryWith(t, 700)
  t.ok(await needsBitmap(path))
  await repackRepository(path)
  t.notOk(await needsBitmap(path))
  t.ok(readdirSync(join(path, 'objects/pack')).some(name => name.endsWith('.bitmap')))
  git(path, ['fast-import', '--quiet', '--force'], stream(50, 7))
  t.notOk(await needsBitmap(path))
  git(path, ['fast-import', '--quiet', '--force'], stream(900, 11))
  t.ok(await needsBitmap(path))
})
