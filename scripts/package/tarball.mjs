// The tarball of a tree, for Linux systems without packages of Debian.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the tarball into the folder `to`. Returns its path. */
export function makeTarball(tree, { to, draft, time, version, printed, quick }) {
  const name = `gitstead-${version}-linux-x64`
  const root = join(draft, 'tarball')
  cpSync(tree, join(root, name), { recursive: true, verbatimSymlinks: true })
  const share = join(root, name, 'share')
  mkdirSync(share)
  writeFileSync(join(share, 'gitstead.1'), printed.man)
  writeFileSync(join(share, 'gitstead.bash'), printed.bash)
  writeFileSync(join(share, '_gitstead'), printed.zsh)
  writeFileSync(join(share, 'gitstead.fish'), printed.fish)
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', root])
  const path = join(to, `${name}.tar.xz`)
  const order = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  // With another number of threads, the same files would give another archive.
  const compressor = quick ? 'xz -0 -T2' : 'xz -6 -T2'
  execFileSync('tar', [...order, `--use-compress-program=${compressor}`, '-cf', path, '-C', root, name], {
    env: { ...process.env, LC_ALL: 'C' }
  })
  return path
}
