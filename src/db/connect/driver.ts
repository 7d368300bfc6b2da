// The driver of MariaDB. Only this module loads it, so that a build can join the files of the driver here: see scripts/bundle.mjs.
import mysql from 'mysql2'

export { mysql }
