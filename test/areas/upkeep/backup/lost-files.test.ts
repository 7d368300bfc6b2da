// `restore --project` brings back files that a project has lost, and no others.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { lookAtBuildFiles } from '../../../../src/areas/ci/builds/files/damaged-files.js'
import { findLinks, storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import { storeUpload } from '../../../../src/areas/projects/uploads/uploads.js'
import { restoreProject } from '../../../../src/areas/upkeep/backup/restore-project.js'
import { findBackup } from '../../../../src/areas/upkeep/backup/store.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { nameOfLfsObject } from '../../../../src/storage/lfs.js'
import { cli } from '../../../helpers/cli.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import { endBuild, makePipeline } from '../../ci/builds/make-builds.js'
import { create, databaseUrl, home } from './subject.js'

prepareHome()

async function withFiles() {
  const project = await factory.project()
  const ci = 'a: { script: x, artifacts: { paths: [x] } }\nb: { script: x, artifacts: { paths: [x] } }\n'
  const [build, other] = await makePipeline(project, ci)
  if (!build || !other) throw new Error('no builds')
  for (const each of [build, other])
    await endBuild(each, { trace: 'some lines\n', artifacts: Buffer.from('an archive') })
  const upload = await storeUpload(project, { name: 'notes.txt', stream: Readable.from(['attached']) })
  const folder = String(Math.floor(build.id / 1000))
  const lfs: string[] = []
  for (const text of ['large', 'larger']) {
    const oid = createHash('sha256').update(`${text} ${project.id}`).digest('hex')
    const key = { oid, size: `${text} ${project.id}`.length }
    await storeObject(project.id, key, () => Readable.from([Buffer.from(`${text} ${project.id}`)]))
    lfs.push(join(home, nameOfLfsObject(oid)))
  }
  return {
    project,
    build,
    other,
    trace: join(home, 'traces', folder, `${build.id}-1.log`),
    archive: join(home, 'artifacts', folder, `${build.id}-1.zip`),
    otherArchive: join(home, 'artifacts', folder, `${other.id}-1.zip`),
    lfs,
    upload: join(home, 'uploads', String(project.id), upload.secret, 'notes.txt')
  }
}

const restore = (backup: { path: string }, name: string, dryRun = false) =>
  restoreProject(findBackup(backup.path), name, { overwrite: false, dryRun }, someOrigin)

t.test('lost and damaged files are back, and doctor finds no fault', async t => {
  const { project, trace, archive, otherArchive, upload, lfs } = await withFiles()
  const backup = await create()
  const content = [trace, archive, upload, ...lfs].map(path => readFileSync(path, 'utf8'))
  rmSync(trace)
  rmSync(upload)
  writeFileSync(archive, 'AN ARCHIVE')
  rmSync(otherArchive)
  const [removed = '', damaged = ''] = lfs
  rmSync(removed)
  await execute('delete from lfs_links where project_id = ?', [project.id])
  await execute('delete from lfs_objects where oid = ?', [basename(removed)])
  writeFileSync(damaged, readFileSync(damaged, 'utf8').toUpperCase())
  const lost = { traces: 1, artifacts: 2, uploads: 1, lfs: 2 }
  t.match(await restore(backup, project.path, true), { files: lost })
  t.notOk(existsSync(trace), 'a dry run changes nothing')
  const { stdout } = await cli(['restore', backup.path, '--project', project.path], {
    environment: { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
  })
  t.equal(stdout, 'restored lost files: traces 1, archives 2, uploads 1, LFS files 2, old records 0\n')
  t.same(
    [trace, archive, upload, ...lfs].map(path => readFileSync(path, 'utf8')),
    content
  )
  t.equal(
    (
      await findLinks(
        project.id,
        lfs.map(path => basename(path))
      )
    ).size,
    2,
    'the project has them again'
  )
  t.same((await lookAtBuildFiles({ all: true })).damaged, [])
  t.match(await restore(backup, project.path), { files: { traces: 0, artifacts: 0, uploads: 0, lfs: 0 } })
})

t.test('files of another run, or that must not exist, stay away', async t => {
  const { project, build, other, trace, archive, otherArchive } = await withFiles()
  const backup = await create()
  for (const path of [trace, archive, otherArchive]) rmSync(path)
  // The second run has other files, and the other archive has expired.
  await execute('update builds set attempt = 2, artifacts_attempt = 2 where id = ?', [build.id])
  await execute("update builds set artifacts_expire_at = '2020-01-01' where id = ?", [other.id])
  t.match(await restore(backup, project.path), { files: { traces: 0, artifacts: 0, uploads: 0 } })
  for (const path of [trace, archive, otherArchive]) t.notOk(existsSync(path))
  await execute('update builds set attempt = 1, artifacts_attempt = 1, trace_sha256 = ? where id = ?', [
    Buffer.alloc(32),
    build.id
  ])
  t.match(await restore(backup, project.path), { files: { traces: 0, artifacts: 1 } }, 'the trace of another build')
})
