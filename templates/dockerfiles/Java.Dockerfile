# A Java service that Maven builds into one archive.
FROM maven:3.9-eclipse-temurin-21 AS build
WORKDIR /src
# Dependencies first, so that a change of the sources does not download them again.
COPY pom.xml ./
RUN mvn --batch-mode dependency:go-offline
COPY src src
RUN mvn --batch-mode -DskipTests package && mv target/*.jar /app.jar

# Only the runtime, without the compiler.
FROM eclipse-temurin:21-jre
RUN useradd --system --uid 10001 app
COPY --from=build /app.jar /app.jar
USER app
EXPOSE 8080
# The heap follows the memory of the container.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app.jar"]
