// The parts of oclif that the command line uses. The entry point of the package would load 60 more modules at each start. Only this
// module loads it, so that a build can join its files here: see scripts/bundle.mjs.
import * as Args from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import { Config } from '@oclif/core/config'
import * as Flags from '@oclif/core/flags'
import { flush } from '@oclif/core/flush'
import { handle } from '@oclif/core/handle'
import { run } from '@oclif/core/run'

export type { Interfaces } from '@oclif/core'
export { Args, Command, Config, Flags, flush, handle, run }
