/* Lucene as a contestant of bench/bm25.py, which starts it: java -cp LUCENE.jar bench/Lucene.java build|ask FOLDER
 *
 * build reads passages from standard input, one a line, and leaves one segment. ask opens the index when a line "open"
 * comes; after it each request is a line "k count" and that many lines of questions, answered by one line: nanoseconds
 * of this thread's CPU and of wall time for all of them, analysis included. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;

public class Lucene {
    static final Analyzer ANALYZER = new EnglishAnalyzer();

    static void build(BufferedReader in, Path folder) throws Exception {
        IndexWriterConfig config = new IndexWriterConfig(ANALYZER).setRAMBufferSizeMB(512).setUseCompoundFile(false);
        config.setSimilarity(new BM25Similarity(1.2f, 0.75f));
        try (IndexWriter writer = new IndexWriter(FSDirectory.open(folder), config)) {
            for (String line; (line = in.readLine()) != null;) {
                Document document = new Document();
                document.add(new TextField("text", line, Field.Store.NO));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
        }
    }

    static Query parse(String question) throws Exception {
        Map<String, Integer> counts = new LinkedHashMap<>();
        try (var tokens = ANALYZER.tokenStream("text", new StringReader(question))) {
            var term = tokens.addAttribute(CharTermAttribute.class);
            tokens.reset();
            while (tokens.incrementToken()) counts.merge(term.toString(), 1, Integer::sum);
            tokens.end();
        }
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        for (var entry : counts.entrySet()) {
            Query one = new TermQuery(new Term("text", entry.getKey()));
            query.add(entry.getValue() == 1 ? one : new BoostQuery(one, entry.getValue()), BooleanClause.Occur.SHOULD);
        }
        return query.build();
    }

    static void ask(BufferedReader in, Path folder) throws Exception {
        var threads = ManagementFactory.getThreadMXBean();
        System.out.println(org.apache.lucene.util.Version.LATEST);
        in.readLine();
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(FSDirectory.open(folder)));
        searcher.setSimilarity(new BM25Similarity(1.2f, 0.75f));
        searcher.setQueryCache(null);
        System.out.println("opened");
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            String[] questions = new String[Integer.parseInt(words[1])];
            for (int i = 0; i < questions.length; i++) questions[i] = in.readLine();
            long cpu = threads.getCurrentThreadCpuTime(), wall = System.nanoTime(), found = 0;
            for (String question : questions)
                found += searcher.search(parse(question), Integer.parseInt(words[0])).scoreDocs.length;
            cpu = threads.getCurrentThreadCpuTime() - cpu;
            System.out.println(cpu + " " + (System.nanoTime() - wall) + " " + found);
        }
    }

    public static void main(String[] given) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (given[0].equals("build")) build(in, Path.of(given[1]));
        else ask(in, Path.of(given[1]));
    }
}
